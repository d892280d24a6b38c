# SPDX-License-Identifier: MIT
#
# make dist, make deb

dist	:= $(B)/dist/memcast-$(VERSION).tar.gz
# The files that git tracks; in a tree from such an archive, all files but those of the build. The
# tree may be inside another repository.
dist_files = if [ -e .git ] && git rev-parse --git-dir >/dev/null 2>&1; then git ls-files -z; \
	else find . \( -path ./$(B) -o -path ./.git \) -prune -o -type f -printf '%P\0'; fi

# The same files make the same archive, byte by byte.
dist:
	@mkdir -p $(B)/dist
	@{ $(dist_files); } | LC_ALL=C sort -z | \
		tar -c --null -T - --transform 's|^|memcast-$(VERSION)/|' \
		--mtime=@$(SOURCE_DATE_EPOCH) --owner=0 --group=0 --numeric-owner \
		--mode=go+rX,go-w | gzip -9n >$(dist)
	@echo '$(dist): '"$$(stat -c %s $(dist)) bytes"
.PHONY: dist deb

# The environment says who makes packages, as for Debian's own tools, and passes it on: a name may
# have any characters.
maintainer = $(or $(DEBFULLNAME),The memcast authors) <$(or $(DEBEMAIL),nobody@memcast.invalid)>
deb_tree := $(B)/deb/memcast-$(VERSION)

deb: export MAINTAINER = $(maintainer)
deb: dist
	@command -v dpkg-buildpackage >/dev/null && command -v dh_dkms >/dev/null || { \
		echo 'packages are missing; run: apt-get install' \
			"$$(tools/memcast-kernel deps package)" >&2; exit 1; }
	@rm -rf $(B)/deb
	@mkdir -p $(B)/deb
	@tar -xzf $(dist) -C $(B)/deb
	@cp -r packaging/debian $(deb_tree)/debian
	@awk '/@MAINTAINER@/ { $$0 = "Maintainer: " ENVIRON["MAINTAINER"] } 1' \
		packaging/debian/control >$(deb_tree)/debian/control
	@awk -f packaging/debian/changelog.awk -v version=$(VERSION) \
		-v date="$$(date -uR -d @$(SOURCE_DATE_EPOCH))" CHANGELOG.md \
		>$(deb_tree)/debian/changelog
	@rm $(deb_tree)/debian/changelog.awk
	@cd $(deb_tree) && env -u MAKEFLAGS -u MAKELEVEL \
		dpkg-buildpackage -us -uc -b >../log 2>&1 || \
		{ tail -n 30 ../log >&2; echo 'the whole log is in $(B)/deb/log' >&2; exit 1; }
	@cd $(B)/deb && ls -s --block-size=1K *.deb
