# SPDX-License-Identifier: MIT
#
# make install, make uninstall. Debian packages are made by these rules, with folders of their own:
# INCLUDEDIR is for memcast's headers, APIDIR and NVMLDIR for those that have the names of NVIDIA's.

INCLUDEDIR	?= $(PREFIX)/include
APIDIR		?= $(INCLUDEDIR)/memcast/cuda
NVMLDIR		?= $(INCLUDEDIR)/memcast/nvml
PKGCONFIGDIR	?= $(LIBDIR)/pkgconfig
# as in GNU's standards: memcast has a folder of its name in it
LIBEXECDIR	?= $(PREFIX)/libexec
MANDIR		?= $(PREFIX)/share/man
DATADIR		?= $(PREFIX)/share
# what clang needs to compile CUDA C++: docs/stack/ptx.md
CLANGDIR	?= $(DATADIR)/memcast/clang
BASHDIR		?= $(DATADIR)/bash-completion/completions
ZSHDIR		?= $(DATADIR)/zsh/site-functions

ifneq ($(filter install uninstall,$(MAKECMDGOALS)),)
$(foreach name,DESTDIR PREFIX LIBDIR INCLUDEDIR APIDIR NVMLDIR PKGCONFIGDIR LIBEXECDIR MANDIR \
	DATADIR CLANGDIR BASHDIR ZSHDIR,$(if $(word 2,x$($(name))x),\
	$(error $(name) is '$($(name))': a folder without blanks in its name, please)))
# the recipes change folders
override DESTDIR := $(abspath $(DESTDIR))
# Where root installs from another user's folder, that user builds: files of root's in build/ would
# be in the way of the user's next make.
owner := $(if $(filter 0,$(shell id -u)),$(filter-out 0,$(shell stat -c %u .)))
as_owner := $(if $(owner),setpriv --reuid=$(owner) --regid=$(shell stat -c %g .) --clear-groups \
	env HOME='$(shell getent passwd $(owner) | cut -d: -f6)')
# Not where others have built already, nor for a kernel that root has fetched.
as_owner := $(if $(owner),$(if $(shell { $(as_owner) test -w '$(CURDIR)' && \
	[ -z "$$(find $(B) ! -uid $(owner) -print -quit)" ]; } 2>/dev/null && echo yes),\
	$(if $(fetched),,$(as_owner))))
endif

bindir	 := $(DESTDIR)$(PREFIX)/bin
libdir	 := $(DESTDIR)$(LIBDIR)
include	 := $(DESTDIR)$(INCLUDEDIR)
api	 := $(DESTDIR)$(APIDIR)
nvml	 := $(DESTDIR)$(NVMLDIR)
pkgdir	 := $(DESTDIR)$(PKGCONFIGDIR)
own_libexec := $(LIBEXECDIR)/memcast
libexec	 := $(DESTDIR)$(own_libexec)
mandir	 := $(DESTDIR)$(MANDIR)
clang	 := $(DESTDIR)$(CLANGDIR)
# the source from which an installed memcast-vm builds the module
module_source := $(DESTDIR)$(DATADIR)/memcast/module
dkms_source := $(DESTDIR)/usr/src/memcast-$(VERSION)
module_file = $(DESTDIR)/lib/modules/$(release)/updates/memcast.ko
dkms_forget := [ -z "$$(dkms status memcast/$(VERSION))" ] || dkms remove memcast/$(VERSION) --all
is_root	:= $(filter 0,$(shell id -u))

# Libraries have a version at the end of their names, and a link without it.
installed_libs := $(libcuda:%.so=) $(companion_libs)
# Scripts that are commands, and the files that they read in folders beside them
scripts		:= $(wildcard tools/memcast-*)
commands	:= $(scripts:tools/%=%)
script_parts	:= $(wildcard tools/*/*.sh tools/vm/*.py tools/kernel/config/*.config tools/vm/module/*)

# schemas of the JSON of memcast-smi, whose help says where the schemas are
schemas		:= docs/memcast-smi.schema.json docs/stack/memcast-smi-topo.schema.json

# $(call relative,FROM,TO): the path between two folders, so that the installed tree can be moved
relative = $(shell realpath -ms --relative-to='$(1)' '$(2)')

# Installed programs look for their libraries in the folder where `make install` puts these.
$(foreach name,$(programs),$(eval $(B)/installed/memcast-$(name): $(call tool_objects,$(name))))
$(tools:$(B)/tools/%=$(B)/installed/%): $(B)/tools/shared.a lib FORCE
	@mkdir -p $(@D)
	$(call quiet,LD)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $(filter %.o,$^) \
		$(filter %.a,$^) $(link) $(above) \
		-Wl,-rpath,'$$ORIGIN/$(call relative,$(PREFIX)/bin,$(LIBDIR))' $(tool_libs) -lm
$(B)/installed/memcast-smi: above = -lnvidia-ml
$(B)/installed/memcast-ptx: $(ptx_images)
$(B)/installed/memcast-ptx: above = -lelf -lzstd -llz4
FORCE:
.PHONY: FORCE

# $(call copy_module,FOLDER): install the module's source there
define copy_module
	install -d $(1)/include/uapi
	install -m 644 dkms.conf Kbuild $(1)/
	for file in $(filter kmod/%,$(kmod_sources)); do install -D -m 644 $$file $(1)/$$file; done
	install -m 644 include/uapi/*.h $(1)/include/uapi/
endef

to_install := lib tools man $(tools:$(B)/tools/%=$(B)/installed/%) $(vm_tools)
install: $(if $(as_owner),,$(to_install))
	$(if $(as_owner),@+$(as_owner) $(MAKE) $(to_install))
	@install -d $(libdir) $(pkgdir) $(api)/clang $(nvml) $(include)/memcast $(clang) $(bindir) $(libexec) || \
		{ echo 'run it as root, or with PREFIX= or DESTDIR= of your own' >&2; exit 1; }
	$(foreach file,$(installed_libs),install -m 644 $(file) $(libdir)/ && \
		ln -sfn $(notdir $(file)) $(libdir)/$(notdir $(basename $(file))) &&) :
	$(if $(trap_object)$(ptx_object),install -m 644 $(trap_object) $(ptx_object) $(libdir)/)
	install -m 644 include/cuda/*.h $(api)/
	install -m 644 include/cuda/clang/*.h $(api)/clang/
	install -m 644 include/nvml/*.h $(nvml)/
	install -m 644 include/uapi/memcast.h $(include)/
	install -m 644 include/memcast/*.h $(include)/memcast/
	sed -e 's|<CFGDIR>/../../include/cuda|<CFGDIR>/$(call relative,$(CLANGDIR),$(APIDIR))|' \
		-e 's|<CFGDIR>/../../include$$|<CFGDIR>/$(call relative,$(CLANGDIR),$(INCLUDEDIR))|' \
		-e 's|<CFGDIR>/../../build/lib|<CFGDIR>/$(call relative,$(CLANGDIR),$(LIBDIR))|' \
		tools/clang/cuda.cfg >$(clang)/cuda.cfg
	chmod 644 $(clang)/cuda.cfg
	install -m 755 tools/clang/ptxas tools/clang/fatbinary $(clang)/
	for file in $(pc_files); do \
		sed $(foreach name,PREFIX LIBDIR INCLUDEDIR APIDIR NVMLDIR VERSION,\
			-e 's|@$(name)@|$($(name))|') \
			$$file >$(pkgdir)/$$(basename $$file .in); done
	chmod 644 $(patsubst %.in,$(pkgdir)/%,$(notdir $(pc_files)))
	install -m 755 $(tools:$(B)/tools/%=$(B)/installed/%) $(bindir)/
	install -m 755 $(scripts) $(vm_tools) $(libexec)/
	for file in $(script_parts:tools/%=%); do \
		install -D -m 644 tools/$$file $(libexec)/$$file; done
	printf '%s\n' installed_version='$(VERSION)' \
		programs='$(call relative,$(own_libexec),$(PREFIX)/bin)' \
		libraries='$(call relative,$(own_libexec),$(LIBDIR))' \
		module_source='$(call relative,$(own_libexec),$(DATADIR)/memcast/module)' \
		>$(libexec)/installed
	chmod 644 $(libexec)/installed
	for command in $(commands); do \
		ln -sfn $(call relative,$(PREFIX)/bin,$(own_libexec))/$$command \
			$(bindir)/$$command; done
	$(call copy_module,$(module_source))
	install -m 644 $(schemas) $(DESTDIR)$(DATADIR)/memcast/
	for section in 1 3 4 7; do \
		install -d $(mandir)/man$$section; \
		install -m 644 $(B)/man/*.$$section $(mandir)/man$$section/; done
	install -D -m 644 packaging/completion/memcast.bash $(DESTDIR)$(BASHDIR)/memcast-vm
	for command in $(filter-out memcast-vm,$(pages_1)); do \
		ln -sfn memcast-vm $(DESTDIR)$(BASHDIR)/$$command; done
	install -D -m 644 packaging/completion/_memcast $(DESTDIR)$(ZSHDIR)/_memcast
ifeq ($(DKMS),yes)
	$(call copy_module,$(dkms_source))
	@[ -n "$(DESTDIR)" ] || { $(dkms_forget); dkms install memcast/$(VERSION) -k $(KERNEL); }
else ifneq ($(KDIR),)
	+$(as_owner) $(MAKE) kmod KERNEL=$(KERNEL)
	$(if $(DESTDIR)$(is_root),rm -f $(module_file)* && \
		install -D -m 644 $(farm)/memcast.ko $(module_file),\
		@echo 'the module is not installed: that takes root')
	-@$(if $(DESTDIR),,$(if $(is_root),depmod $(release)))
else
	@echo 'no headers of $(KERNEL) here, so no module for it'
endif
	-@$(if $(DESTDIR),,$(if $(is_root),ldconfig))

# Removes the files that `make install` with the same variables has installed, and no others
uninstall: $(if $(as_owner),,man)
	$(if $(as_owner),@+$(as_owner) $(MAKE) man)
	rm -f $(foreach file,$(installed_libs),\
		$(libdir)/$(notdir $(file)) $(libdir)/$(notdir $(basename $(file))))
	rm -f $(libdir)/memcast-trap.so $(libdir)/memcast-ptx.so
	rm -f $(patsubst %.in,$(pkgdir)/%,$(notdir $(pc_files))) $(include)/memcast.h \
		$(patsubst include/cuda/%,$(api)/%,$(wildcard include/cuda/*.h include/cuda/*/*.h)) \
		$(patsubst include/nvml/%,$(nvml)/%,$(wildcard include/nvml/*.h)) \
		$(patsubst include/%,$(include)/%,$(wildcard include/memcast/*.h))
	rm -f $(tools:$(B)/tools/%=$(bindir)/%) $(commands:%=$(bindir)/%)
	cd $(B)/man && for page in *.[1-9]; do rm -f $(mandir)/man$${page##*.}/$$page; done
	rm -f $(pages_1:%=$(DESTDIR)$(BASHDIR)/%) $(DESTDIR)$(ZSHDIR)/_memcast
	rm -f $(addprefix $(clang)/,cuda.cfg ptxas fatbinary)
	-@rmdir $(clang)
	rm -rf $(libexec) $(DESTDIR)$(DATADIR)/memcast
	-@rmdir $(api)/clang $(api) $(nvml) $(include)/memcast
ifeq ($(DKMS),yes)
	@[ -n "$(DESTDIR)" ] || $(dkms_forget)
	rm -rf $(dkms_source)
else ifneq ($(KDIR),)
	rm -f $(module_file)*
	-@[ -n "$(DESTDIR)" ] || depmod $(release)
endif
	-@$(if $(DESTDIR),,$(if $(is_root),ldconfig))
