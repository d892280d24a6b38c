# SPDX-License-Identifier: MIT
#
# make dist

dist	:= $(B)/dist/memcast-$(VERSION).tar.gz
# What git has, or all but what was built, where it is unpacked from such an archive
dist_files = if git rev-parse --git-dir >/dev/null 2>&1; then git ls-files -z; \
	else find . -path ./$(B) -prune -o -type f -printf '%P\0'; fi

# The same bytes from the same files
dist:
	@mkdir -p $(B)/dist
	@{ $(dist_files); } | LC_ALL=C sort -z | tar -c --null -T - --transform 's|^|memcast-$(VERSION)/|' \
		--mtime=@$(SOURCE_DATE_EPOCH) --owner=0 --group=0 --numeric-owner --mode=go+rX,go-w | \
		gzip -9n >$(dist)
	@echo '$(dist): '"$$(stat -c %s $(dist)) bytes"
.PHONY: dist
