# SPDX-License-Identifier: MIT
#
# Manual pages, in build/man. Each is made from a text that exists already: section 1 from
# --help, section 3 from headers, section 4 from the interface and the module's parameters.
# No text is written twice, so no copy has to be kept true.

export SOURCE_DATE_EPOCH ?= $(shell \
	{ [ -e .git ] && git log -1 --format=%ct 2>/dev/null; } || stat -c %Y dkms.conf)
man_date = $(shell date -u -d @$(SOURCE_DATE_EPOCH) +%F)
man_awk	:= packaging/man/text.awk
man_vars = -v date=$(man_date) -v version=$(VERSION) -v name=$(notdir $(basename $@))
man_refs = $(shell printf '.BR %s,\n' $(filter-out $(@F),$(1)) | \
	   sed 's/\.\([1-9]\),/ (\1),/; $$s/,$$//' | tr '\n' '~')
# the same text for all users and locales
man_help = LC_ALL=C.UTF-8 MEMCAST_CACHE='~/.cache/memcast' $(1) --help

pages_1	:= $(sort $(notdir $(tools) $(commands)))
pages_3	:= $(filter-out multimem_core,\
	   $(patsubst include/memcast/%.h,%,$(wildcard include/memcast/*.h)))
pages	:= $(pages_1:%=$(B)/man/%.1) $(pages_3:%=$(B)/man/memcast-%.3) $(B)/man/memcast.4 \
	   $(B)/man/memcast.7
see_3	:= memcast-view.3 memcast-bulk.3 memcast-group.3 memcast-multimem.3 memcast-kernel.3
see	:= memcast-vm.1 memcast-run.1 memcast-smi.1 $(see_3) memcast.4 memcast.7
man_see	= -v see="$$(printf '%s' '$(call man_refs,$(see))' | tr '~' '\n' | \
	  sed 's/\([^ ]*\) (\([1-9]\))/\1 (\2)/')"

man: $(pages) $(B)/man/functions
.PHONY: man

define make_page_1
	@mkdir -p $(@D)
	$(call quiet,MAN)$(call man_help,$<) | \
		awk -f $(man_awk) -f packaging/man/help.awk $(man_vars) $(man_see) >$@
endef
$(commands:%=$(B)/man/%.1): $(B)/man/%.1: tools/% $(scripts) $(script_parts) \
		$(wildcard packaging/man/*.awk)
	$(make_page_1)
$(tools:$(B)/tools/%=$(B)/man/%.1): $(B)/man/%.1: $(B)/tools/% $(wildcard packaging/man/*.awk) | lib
	$(make_page_1)

$(B)/man/memcast-%.3: include/memcast/%.h $(wildcard packaging/man/*.awk)
	@mkdir -p $(@D)
	$(call quiet,MAN)awk -f $(man_awk) -f packaging/man/header.awk $(man_vars) $(man_see) \
		-v section=3 -v include=memcast/$*.h $< >$@

# a page for each function, which shows the page of the function's header
$(B)/man/functions: $(pages_3:%=$(B)/man/memcast-%.3)
	@for page in $(pages_3); do \
		awk -f $(man_awk) -f packaging/man/header.awk -v list=yes \
			include/memcast/$$page.h | while read -r name; do \
			echo ".so man3/memcast-$$page.3" >$(B)/man/$$name.3; done; done
	@touch $@

$(B)/man/memcast.4: include/uapi/memcast.h packaging/man/device.roff $(kmod_sources) \
		$(wildcard packaging/man/*.awk)
	@mkdir -p $(@D)
	$(call quiet,MAN)awk -f $(man_awk) -f packaging/man/lists.awk -v of=parameters \
		$(wildcard kmod/*/*.c) >$@.extra
	@cat packaging/man/device.roff >>$@.extra
	@awk -f $(man_awk) -f packaging/man/header.awk $(man_vars) $(man_see) \
		-v section=4 -v include=memcast.h -v extra=$@.extra $< >$@
	@rm $@.extra

$(B)/man/memcast.7: packaging/man/overview.roff docs/environment.md $(wildcard packaging/man/*.awk)
	@mkdir -p $(@D)
	$(call quiet,MAN){ echo '.TH MEMCAST 7 $(man_date) "memcast $(VERSION)" memcast'; cat $<; \
		awk -f $(man_awk) -f packaging/man/lists.awk -v of=environment \
			docs/environment.md; \
		echo '.SH SEE ALSO'; awk $(man_see) 'BEGIN { print see }'; } >$@
