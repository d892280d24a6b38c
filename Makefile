# SPDX-License-Identifier: MIT
#
# `make help` lists the goals. The module itself is described in Kbuild.

# make and Kbuild take a blank or colon in a file's name for the end of the name.
$(if $(word 2,$(CURDIR))$(findstring :,$(CURDIR)),\
	$(error the folder '$(CURDIR)' may have no blank and no colon in its name))

MAKEFLAGS += --no-builtin-rules --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DELETE_ON_ERROR:
.SECONDARY:

VERSION	:= $(shell sed -n 's/^PACKAGE_VERSION=//p' dkms.conf)
PREFIX	?= /usr/local
# packaging/install.mk has the other folders that can be named.
LIBDIR	?= $(PREFIX)/lib
# yes: install the module's source, for DKMS to build it for each kernel
DKMS	?=
# A name that `memcast-kernel fetch` knows, debug, kcsan, a kernel release or a build folder
KERNEL	?= $(shell uname -r)
# kernels to build for and to boot, such as 6.12 or backports, instead of those of `make check` and
# `make check-all`
CHECK_KERNELS ?=
CC	:= gcc
CFLAGS	?= -O2 -g

# ARCH=arm64, or a kernel of that name: for other processors than this machine's, by Debian's cross
# compiler and libraries that are unpacked, not installed. Folders of lib/ and tools/ that are named
# after processors are for these only.
machine	:= $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(shell uname -m)))
ARCH	?= $(machine)
arch	:= $(if $(filter %-arm64 %-arm64-16k %-arm64-64k,$(KERNEL)),arm64,$(ARCH:x86_64=x86))
others	:= $(filter-out $(arch),x86 arm64)
$(if $(filter x86 arm64,$(arch)),,$(error ARCH is x86 or arm64, not '$(ARCH)'))
$(if $(filter $(machine) arm64,$(arch)),,$(error for ARCH=$(arch) there is no cross build))
cross	:= $(filter-out $(machine),$(arch))
# $(call own,FILES): without those in folders of other processors
own	 = $(foreach file,$(1),$(if $(findstring /$(others)/,$(file)),,$(file)))
ifneq ($(cross),)
binutils := aarch64-linux-gnu-
sysroot	:= $(shell tools/memcast-kernel sysroot)
root_lib := $(sysroot)/usr/lib/aarch64-linux-gnu
CC	:= $(binutils)gcc -isystem $(sysroot)/usr/include -L$(root_lib) -Wl,-rpath-link,$(root_lib)
pkg_root := PKG_CONFIG_LIBDIR=$(root_lib)/pkgconfig:$(sysroot)/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$(sysroot)
endif

B := build$(cross:%=/%)
# memcast's own headers, and those that stand in for a toolkit's
headers := -Iinclude -Iinclude/cuda -Iinclude/nvml
# All functions of the C library; examples are built without, as users build them.
gnu := -D_GNU_SOURCE=
# -fsigned-char: arm64's is unsigned otherwise
flags := -std=gnu11 $(gnu) $(CFLAGS) -fsigned-char -Wall -Wextra -Werror -pthread $(headers) -MMD -MP
# A line for each file, as kernels are built; V=1 shows the commands
quiet = $(if $(V),,@printf '  %-7s %s\n' $(1) $@;)
pkg = $(shell $(pkg_root) pkg-config $(1) $(2) 2>/dev/null)

.PHONY: all lib tools examples selftests docs docs-pictures kmod deps deps-check deps-check-all deps-arm64 check check-all check-style \
	check-debug check-kcsan test costs demo install uninstall man dist deb clean help
all: lib tools examples

# ---- the parts of memcast, and their sources

# libraries above the driver's: each has a folder, and knows public headers only
companions	 := cudart nvml array
# libraries that libcuda.so.1 loads when a program needs them
loaded		 := trap ptx
apart		 := $(companions) $(loaded)
lib_sources	 := $(call own,$(filter-out $(apart:%=lib/%/%),$(wildcard lib/*.c lib/*/*.c lib/*/*/*.c)))
# A program is tools/NAME/memcast-NAME.c, with all other sources in that folder.
# memcast-bench measures x86-64 only.
programs	 := $(filter-out $(if $(filter x86,$(arch)),,bench),\
		    $(patsubst memcast-%.c,%,$(notdir $(wildcard tools/*/memcast-*.c))))
# The MPI libraries that are installed, for memcast-bench to compare with
mpis		 := $(if $(cross),,$(foreach mpi,openmpi mpich,$(if $(shell command -v mpicc.$(mpi)),$(mpi))))
kmod_sources	 := Kbuild dkms.conf $(wildcard kmod/*/*.[ch] include/uapi/*.h)

libcuda	 := $(if $(lib_sources),$(B)/lib/libcuda.so.1 $(B)/lib/libcuda.so)
# built before programs are linked; the linker takes the libraries that a program uses
linked	  = $(libcuda) $(B)/lib/$(so_array) $(trap_object) $(ptx_object)
tools	 := $(programs:%=$(B)/tools/memcast-%)
# NCCL's headers include CUDA's; `make NCCL_HOME=/path/of/its/build` says where NCCL is
nccl	 := $(if $(NCCL_HOME),$(wildcard $(NCCL_HOME)/include/nccl.h))
examples := $(patsubst examples/%.c,$(B)/examples/%,$(filter-out $(if $(nccl),,examples/nccl-%),\
	    $(wildcard examples/*.c)))
link	  = -Wl,--as-needed -L$(B)/lib $(if $(lib_sources),-lmemcast -lcuda) -lm

so_cudart := libcudart.so.13
so_nvml	  := libnvidia-ml.so.1
so_array  := libmemcast.so.0
trap_object := $(B)/lib/memcast-trap.so
# The newest LLVM with headers, of those that lib/ptx/ has been built with; the libraries that are
# unpacked for a cross build are of version 19, and its headers are the same for all processors
llvm	 := $(firstword $(foreach version,19 $(if $(cross),,18 17 16 15 14),\
	    $(wildcard /usr/lib/llvm-$(version)/include/llvm-c/LLJIT.h)))
llvm_config := $(llvm:%/include/llvm-c/LLJIT.h=%/bin/llvm-config)
ptx_object := $(if $(llvm),$(if $(wildcard lib/ptx/object.c),$(B)/lib/memcast-ptx.so))
pc_files := lib/memcast.pc.in lib/array/libmemcast.pc.in
companion_libs := $(foreach name,$(companions),$(if $(wildcard lib/$(name)/*.c),$(B)/lib/$(so_$(name))))

lib: $(libcuda) $(companion_libs) $(trap_object) $(if $(llvm),$(ptx_object),no-llvm)

.PHONY: no-llvm
no-llvm:
	@echo 'no headers of LLVM (llvm-19-dev), so no memcast-ptx.so: kernels need functions in C'
tools: $(tools) $(mpis:%=$(B)/tools/bench-mpi.%)
examples: $(examples)

# ---- #include "FOLDER/HEADER.h" finds the folders that a folder may use, and no others

rooms	 := $(B)/rooms
# $(call make_rooms,WHERE,ROOT): for each folder of ROOT, a folder of links to those that it may use
make_rooms = awk -v root=$(2) -f tools/tests/source/rooms.awk tools/tests/source/direction.txt | \
	while read -r room folder; do \
		mkdir -p $(1)/$${room\#*/} && ln -sfn $(CURDIR)/$$folder $(1)/$${room\#*/}/; \
	done
$(rooms)/lib/made: tools/tests/source/direction.txt tools/tests/source/rooms.awk
	@rm -rf $(@D)
	@$(call make_rooms,$(@D),lib)
	@touch $@

# A tool may use itself and tools/shared.
tool_rooms := $(patsubst tools/%/,$(rooms)/tools/%/shared,$(wildcard tools/*/))
$(tool_rooms): $(rooms)/tools/%/shared:
	@mkdir -p $(@D)
	@ln -sfn $(CURDIR)/tools/$* $(@D)/$*
	@ln -sfn $(CURDIR)/tools/shared $@

# ---- the library

# the first folder below lib/ of an object's source
room = $(firstword $(subst /, ,$*))
folders = $(rooms)/lib/$(room)
$(foreach name,$(companions),$(eval $(B)/lib/$(name)/%.o: folders = lib/$(name)))
$(B)/lib/ptx/%.o: folders = $(rooms)/lib/ptx
$(B)/lib/ptx/%.o: flags += $(llvm_flags)
llvm_flags := $(if $(llvm),$(patsubst -I%,-isystem %,$(filter -I%,$(shell $(llvm_config) --cflags))))

$(B)/lib/%.o: lib/%.c $(rooms)/lib/made
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(flags) -Iinclude/uapi $(folders:%=-I%) -Ilib/$(room)/$(arch) -fPIC \
		-fvisibility=hidden \
		-c -o $@ $<

# The names of device attributes for MEMCAST_ATTR
$(B)/lib/attribute-names.h: include/cuda/cuda.h
	@mkdir -p $(@D)
	$(call quiet,GEN)sed -n 's/^\tCU_DEVICE_ATTRIBUTE_\(\w*\) = \([0-9]*\),$$/{ "\1", \2 },/p' $< >$@

# Profiles of devices, the default one first, as C strings
profiles := profiles/h100.profile $(filter-out profiles/h100.profile,$(sort $(wildcard profiles/*.profile)))
$(B)/lib/profiles.h: $(profiles)
	@mkdir -p $(@D)
	$(call quiet,GEN)for file in $^; do name=$${file##*/}; \
		printf '{ "%s",\n' "$${name%.profile}"; sed 's/.*/"&\\n"/' $$file; echo '},'; done >$@

$(B)/lib/device/profile.o: $(B)/lib/profiles.h
$(B)/lib/device/profile.o: flags += -I$(B)/lib

$(B)/lib/device/override.o: $(B)/lib/attribute-names.h
$(B)/lib/device/override.o: flags += -I$(B)/lib

$(B)/lib/libcuda.map: lib/libcuda.map.in lib/functions.def
	@mkdir -p $(@D)
	$(call quiet,GEN)$(CC) -E -P -x c -o $@ $<

# How libraries are linked: a symbol of the program's, or of a preloaded library's, does not take
# the place of a function within a library, nor within the table of cuGetProcAddress().
shared = $(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,now

$(B)/lib/libcuda.so.1: $(lib_sources:lib/%.c=$(B)/lib/%.o) $(B)/lib/libcuda.map
	$(call quiet,LD)$(shared) -pthread -Wl,-soname,libcuda.so.1 \
		-Wl,--version-script=$(B)/lib/libcuda.map \
		-Wl,-z,nodelete -o $@ $(filter %.o,$^) \
		-Wl,--as-needed -lm -lelf -lzstd -llz4

# libcuda.so.1 loads this library from its own folder when a team is first mapped: lib/fault/load.c.
trap_objects := $(patsubst lib/%.c,$(B)/lib/%.o,$(wildcard lib/trap/$(arch)/*.c))
$(trap_object): $(trap_objects)
	$(call quiet,LD)$(shared) -Wl,-soname,$(@F) -Wl,-z,nodelete -o $@ $^ \
		$(if $(filter x86,$(arch)),-lZydis)

# libcuda.so.1 loads this library when it needs a kernel of which there is PTX: lib/translate/load.c.
# lib/image/ and lib/ptx/ share a reader.
ptx_reader  := ptx_word ptx_number ptx_value
ptx_sources := $(call own,$(wildcard lib/ptx/*.c lib/ptx/*/*.c lib/fiber/*.c lib/fiber/*/*.c)) \
	       $(ptx_reader:%=lib/image/%.c)
ptx_libs     = $(if $(cross),-lLLVM-19,$(shell $(llvm_config) --ldflags --libs))
$(B)/lib/memcast-ptx.so: $(ptx_sources:lib/%.c=$(B)/lib/%.o)
	$(call quiet,LD)$(shared) -pthread -Wl,-soname,$(@F) -Wl,-z,nodelete -Wl,--build-id -o $@ $^ \
		-Wl,--as-needed $(ptx_libs) -lm

# A companion exports what its map names, most of it by the table in its functions.def.
define companion
$(B)/lib/$(1).map: lib/$(1)/exports.map.in $(wildcard lib/$(1)/functions.def)
	@mkdir -p $$(@D)
	$$(call quiet,GEN)$$(CC) -E -P -x c -o $$@ $$<

$(B)/lib/$(so_$(1)): $(patsubst %.c,$(B)/%.o,$(call own,$(wildcard lib/$(1)/*.c lib/$(1)/*/*.c))) \
		$(B)/lib/$(1).map | $(libcuda)
	$$(call quiet,LD)$$(shared) -pthread -Wl,-soname,$(so_$(1)) \
		-Wl,--version-script=$(B)/lib/$(1).map \
		-Wl,-rpath,'$$$$ORIGIN' -o $$@ $$(filter %.o,$$^) -Wl,--as-needed -L$(B)/lib -lcuda
	@ln -sfn $(so_$(1)) $(B)/lib/$(basename $(so_$(1)))
endef
$(foreach name,$(companions),$(eval $(call companion,$(name))))
$(B)/lib/$(so_cudart): $(B)/lib/base/log_file.o

docs: docs/functions.md docs/stack/runtime-functions.md

docs/functions.md: lib/functions.awk lib/functions.def
	$(call quiet,GEN)awk -f $^ >$@

docs/stack/runtime-functions.md: lib/functions.awk lib/cudart/functions.def
	$(call quiet,GEN)awk -f $^ >$@

# What the driver vivid films into each replica of a team; a tar file takes the picture out of
# the machine
docs-pictures: selftests
	tools/memcast-vm --root $$(sed -n 2p selftests/vm-options) --env MEMCAST_TEST_PICTURES=/tmp \
		--add $(B)/selftests -- sh -c 'cd $(B)/selftests && ./vivid_team_test -t picture >&2 && \
		cd /tmp && tar -c camera-replicas.png' | tar -x -C docs/pictures

$(B)/lib/libcuda.so: $(B)/lib/libcuda.so.1
	@ln -sfn libcuda.so.1 $@

# ---- programs; an archive has the code that they share

tool_libs = $(call pkg,--libs,json-c smartcols zlib)

$(B)/tools/%.o: tools/%.c dkms.conf | $(tool_rooms)
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(flags) -I$(rooms)/tools/$(room) \
		-DMEMCAST_VERSION='"$(VERSION)"' $(call pkg,--cflags,json-c smartcols zlib) -c -o $@ $<

$(B)/tools/profile/memcast-profile.o: $(B)/lib/attribute-names.h
$(B)/tools/profile/memcast-profile.o: flags += -I$(B)/lib

# memcast-bench measures memcast-ptx.so by the interface that libcuda.so.1 uses, against loops of C
# that are compiled as well as can be
$(B)/tools/bench/ptx/%.o: flags += -I$(rooms)/lib/ptx
$(B)/tools/bench/ptx/loops.o: flags += -O3
$(patsubst %.c,$(B)/%.o,$(wildcard tools/bench/ptx/*.c)): $(rooms)/lib/made

# $(call tool_objects,FOLDER): the objects of its sources; the MPI programs have a rule of their own
tool_objects = $(patsubst %.c,$(B)/%.o,\
	       $(filter-out %/mpi.c,$(call own,$(wildcard tools/$(1)/*.c tools/$(1)/*/*.c))))

$(B)/tools/shared.a: $(call tool_objects,shared)
	@rm -f $@
	$(call quiet,AR)$(binutils)ar rcs $@ $^

$(foreach name,$(programs),$(eval $(B)/tools/memcast-$(name): $(call tool_objects,$(name))))
$(tools): $(B)/tools/shared.a | $(linked)
	$(call quiet,LD)$(CC) -pthread -o $@ $(filter %.o,$^) $(filter %.a,$^) $(link) $(above) \
		-Wl,-rpath,'$$ORIGIN/../lib' $(tool_libs) -lm

$(B)/tools/memcast-smi: above = -lnvidia-ml
$(B)/tools/memcast-smi: | $(B)/lib/$(so_nvml)

$(B)/tools/bench-mpi.%: tools/bench/data/mpi.c
	@mkdir -p $(@D)
	$(call quiet,MPICC)mpicc.$* -std=gnu11 $(CFLAGS) -Wall -Wextra -o $@ $<

# Tools read records of libcuda.so.1's in memory of other processes.
activity_readers := $(B)/tools/smi/activity.o $(B)/tools/shared/activity.o
$(activity_readers): flags += -I$(rooms)/lib/base
$(activity_readers): $(rooms)/lib/made

# memcast-ptx reads images with the code that libcuda.so.1 has for it.
ptx_images := $(patsubst %.c,$(B)/%.o,$(wildcard lib/image/*.c))
$(B)/tools/memcast-ptx: $(ptx_images)
$(B)/tools/memcast-ptx: above = -lelf -lzstd -llz4
$(B)/tools/ptx/%.o: flags += -I$(rooms)/lib/kernel -Iinclude/uapi
$(patsubst %.c,$(B)/%.o,$(wildcard tools/ptx/*.c)): $(rooms)/lib/made

$(B)/examples/%: examples/%.c | $(linked)
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(filter-out $(gnu),$(flags)) -o $@ $< $(link) -Wl,-rpath,'$$ORIGIN/../lib'

# Built as users of CUDA build programs, with NVIDIA's headers and memcast's libraries
$(B)/examples/nccl-%: examples/nccl-%.c | $(libcuda) $(companion_libs)
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(filter-out $(gnu) $(headers),$(flags)) -Iinclude/uapi -I$(NCCL_HOME)/include \
		-isystem $(dir $(nvidia)) -o $@ $< -L$(NCCL_HOME)/lib -L$(B)/lib -lnccl -lcudart \
		-Wl,-rpath,'$$ORIGIN/../lib:$(abspath $(NCCL_HOME))/lib'

# vm-init is the machine's first process; vm-watch watches QEMU and tests on the host, and tests in
# the machine
vm_programs	:= $(B)/tools/vm-init $(B)/tools/vm-watch
vm_headers	:= $(wildcard tools/vm/*/*.h tools/shared/*.h)
vm_wire		:= $(wildcard tools/vm/wire/*.c)
vm_activity	:= tools/shared/activity.c
vm_includes	:= -I$(rooms)/tools/vm -I$(rooms)/lib/base
$(B)/tools/vm-init: $(wildcard tools/vm/init/*.c tools/vm/init/$(arch)/*.c) $(patsubst %,tools/vm/watch/%.c,progress activity explain place $(arch)/registers) $(vm_activity) $(vm_wire)
$(B)/tools/vm-watch: $(wildcard tools/vm/watch/*.c tools/vm/watch/$(arch)/*.c) $(vm_activity)
$(vm_programs): $(vm_headers) lib/base/activity.h | $(tool_rooms) $(rooms)/lib/made
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(flags) $(vm_includes) -Wno-unused-result -static -o $@ $(filter %.c,$^)

# vm-door starts programs in running machines, from the host
vm_tools	:= $(vm_programs) $(B)/tools/vm-door
$(B)/tools/vm-door: $(wildcard tools/vm/door/*.c) tools/shared/name.c $(vm_wire) $(vm_headers) | $(tool_rooms)
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(flags) $(vm_includes) $(call pkg,--cflags,json-c) -o $@ \
		$(filter %.c,$^) $(call pkg,--libs,json-c)

include selftests/build.mk

# ---- the module: one folder of links per kernel, so that objects do not mix

kmod_goals := kmod check-style $(if $(filter yes,$(DKMS)),,install uninstall)
ifneq ($(filter $(kmod_goals),$(MAKECMDGOALS))$(filter-out $(shell uname -r),$(KERNEL)),)
fetched := $(shell tools/memcast-kernel is-fetched '$(KERNEL)' && echo yes)
ifneq ($(fetched),)
fetched := $(shell tools/memcast-kernel fetch $(KERNEL) && echo yes)
endif
$(if $(and $(cross),$(fetched),$(if $(findstring -$(cross),$(KERNEL)),,y)),\
	$(error KERNEL=$(KERNEL) is not for $(cross): KERNEL=6.12-$(cross), or 6.12-$(cross)-16k))
ifneq ($(fetched)$(shell tools/memcast-kernel is-built '$(KERNEL)' && echo yes),)
KDIR := $(shell eval "$$(tools/memcast-kernel path $(KERNEL))"; echo $$kdir)
# Modules for a kernel of a newer Debian are built with that Debian's compiler.
in_root := $(if $(fetched),$(CURDIR)/tools/memcast-kernel run $(KERNEL))
else
KDIR := $(firstword $(wildcard $(KERNEL)/Makefile /lib/modules/$(KERNEL)/build/Makefile))
KDIR := $(KDIR:/Makefile=)
endif
endif
ifneq ($(KDIR),)
release := $(shell cut -d'"' -f2 $(KDIR)/include/generated/utsrelease.h)
farm	:= $(B)/kmod-$(release)
# BTF needs vmlinux and pahole, signatures need the builder's key: the module has neither.
kbuild	:= $(in_root) $(MAKE) -C $(KDIR) M=$(CURDIR)/$(farm) W=1 KCFLAGS=-Werror \
	   CONFIG_DEBUG_INFO_BTF_MODULES= CONFIG_MODULE_SIG_ALL= \
	   $(if $(cross),ARCH=$(cross) CROSS_COMPILE=$(binutils))

test_modules := $(foreach name,importer exporter,$(B)/selftests/memcast_$(name)-$(release).ko)

kmod: $(farm)/memcast.ko $(farm)/vm/made $(test_modules)

$(farm)/memcast.ko: $(kmod_sources) $(KDIR)/Module.symvers tools/tests/source/direction.txt tools/tests/source/rooms.awk
	@mkdir -p $(patsubst %,$(farm)/%,$(sort $(dir $(filter kmod/%,$(kmod_sources)))))
	@find $(farm) -xtype l -delete
	@ln -sfn $(CURDIR)/Kbuild $(CURDIR)/dkms.conf $(CURDIR)/include $(farm)/
	@for file in $(filter kmod/%,$(kmod_sources)); do ln -sfn $(CURDIR)/$$file $(farm)/$$file; done
	@rm -rf $(farm)/rooms
	@$(call make_rooms,$(farm)/rooms,kmod)
	@echo "memcast.ko for $(release)"
	@+$(kbuild) modules
	@touch $@

# memcast_vm.ko, which memcast-vm's emulated x86 machines load; only kernels with kprobes have one
$(farm)/vm/made: $(wildcard tools/vm/module/*) $(KDIR)/Module.symvers
	@mkdir -p $(@D)
	@ln -sfn $(abspath $(wildcard tools/vm/module/*)) $(@D)/
	@+$(kbuild) M=$(CURDIR)/$(@D) modules
	@find $(@D) -name '*.ko' -exec $(binutils)objcopy --strip-debug {} \;
	@touch $@

# An importer and an exporter of dma-bufs that tests load; they know nothing of memcast
$(test_modules) &: $(wildcard selftests/kmod/*) $(KDIR)/Module.symvers
	@mkdir -p $(farm)/tests $(B)/selftests
	@ln -sfn $(abspath $(wildcard selftests/kmod/*)) $(farm)/tests/
	@+$(kbuild) M=$(CURDIR)/$(farm)/tests modules
	@for module in $(test_modules); do \
		name=$${module##*/}; \
		$(binutils)objcopy --strip-debug $(farm)/tests/$${name%%-*}.ko $$module; \
	done

# checkpatch and sparse: any message about memcast's files fails
check-style: kmod
	@echo "checkpatch.pl --strict, sparse ($(release))"
	@messages=$$(cd $(farm) && $$OLDPWD/tools/memcast-kernel source | { read -r source; \
		$$source/scripts/checkpatch.pl --no-tree --strict --terse -q \
		--file $(filter %.c %.h,$(kmod_sources)) vm/memcast_vm.c || true; } | sed '/^total: /d'; \
		$(kbuild) C=2 modules 2>&1 | sed -n '/kmod\/.*: \(warning\|error\)/p; /^make.* Error/p'); \
	[ -z "$$messages" ] || { echo "$$messages"; exit 1; }

else
kmod check-style:
	$(error nothing to build the module from for '$(KERNEL)'; \
		try KERNEL=6.12 (fetched from Debian), KERNEL=/path/to/build, or run: \
		apt-get install linux-headers-$(shell uname -r))
endif

# `make` also builds the module for the running kernel, if its headers are installed.
ifneq ($(if $(cross),,$(wildcard /lib/modules/$(shell uname -r)/build/Makefile)),)
all: module-here
.PHONY: module-here
module-here:
	@$(MAKE) kmod KERNEL=$(shell uname -r)
else
all: no-module-here
.PHONY: no-module-here
no-module-here:
	@echo 'no headers of $(shell uname -r) here, so no module for it; tools/memcast-vm needs none'
endif

# ---- commands

deps deps-check deps-check-all deps-arm64:
	@missing=$$(tools/memcast-kernel deps $(patsubst deps-%,%,$(filter deps-%,$@)) missing); \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then \
		echo "packages are missing; run as root: apt-get install $$missing" >&2; exit 1; \
	fi; \
	apt-get update && DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends $$missing

# `make check` runs what a change can break, on one kernel, with a quarter of the rounds of tests that
# repeat themselves; `make check-all` runs everything, with half of the rounds on each of two kernels
# (LOOPS, in percent), and random tests for SECONDS each. With
# ARCH=arm64 it comes on top of that: a change that breaks one of the longest tests, which are random
# ones and of killed processes, breaks it on all processors.
check check-all: check_kernels = $(or $(CHECK_KERNELS),$(if $(cross),6.12-arm64-16k 6.12-arm64,$(strip \
	$(if $(filter check-all,$@),6.1 6.12,6.12))))
check check-all: $(cross:%=deps-%)
check: deps-check
check: check_options = --env MEMCAST_TEST_LOOPS=25 $(if $(cross),--most 9)
check-all: deps-check-all
check-all: check_options = --all --env MEMCAST_TEST_LOOPS=$(or $(LOOPS),50) $(if $(SECONDS),--env MEMCAST_TEST_SECONDS=$(SECONDS))
# Shells count in a variable of this name.
unexport SECONDS

# Each line runs make anew, which then sees the packages that deps-check has installed.
check check-all:
	@for kernel in $(check_kernels); do tools/memcast-kernel fetch $$kernel || exit; done
	@tools/memcast-kernel source >/dev/null
	@$(MAKE) -j$$(nproc) lib tools examples selftests $(B)/tools/vm-init
	@awk -f lib/functions.awk lib/functions.def | diff docs/functions.md - || \
		{ echo 'docs/functions.md is not of lib/functions.def: make docs' >&2; exit 1; }
	@awk -f lib/functions.awk lib/cudart/functions.def | \
		diff docs/stack/runtime-functions.md - || { \
		echo 'docs/stack/runtime-functions.md is not of lib/cudart/functions.def: make docs' >&2; \
		exit 1; }
	@$(MAKE) -j$$(nproc) $(check_kernels:%=check-style-%)
	@$(if $(cross),for kernel in $(check_kernels); do $(MAKE) test KERNEL=$$kernel \
		T="$(notdir $(basename $(wildcard selftests/ptx/ptx_*test.c)))" || exit; done)
	@CHECK_KERNELS='$(check_kernels)' tools/run-selftests $(if $(JOBS),--jobs $(JOBS)) \
		$$(cat selftests/vm-options) $(check_options) $(check_kernels) $(if $(cross),,host)

check-style-%:
	@$(MAKE) check-style KERNEL=$*

# The tests that T names, or those that make the call CALL, without building the rest of the suite
test: test_kernel = $(if $(filter file,$(origin KERNEL)),6.12$(cross:%=-%),$(KERNEL))
test: test_named = $(strip $(T) $(if $(CALL),$(shell tools/tests/suite/calls.sh '$(CALL)')))
test: test_built = $(addprefix $(B)/selftests/,$(foreach name,$(test_named),$(firstword $(subst :, ,$(name)))) \
	run vm-watch memcast-smi) $(test_tables)
test:
	@[ -n '$(T)$(CALL)' ] || { \
		echo 'which? make test T=team_test, T="bind_test share_test:by_scm_rights" KERNEL=6.1,' \
			'or CALL=cuMulticastBindMem' >&2; exit 1; }
	@[ -n '$(test_named)' ] || { echo 'no test makes the call $(CALL)' >&2; exit 1; }
	@$(MAKE) -j$$(nproc) $(test_built) $(B)/tools/vm-init
	@tools/memcast-vm --kernel '$(test_kernel)' --root --add $(B)/selftests \
		$(if $(filter ptx_%,$(test_named)),$(ptx_object:%=--add %)) \
		$$(cat selftests/vm-options) -- $(B)/selftests/run $(test_named)

# A change of what calls cost goes into the same commit as its cause.
costs: lib tools
	$(B)/tools/memcast-bench --record selftests/costs.txt
	@git --no-pager diff --stat selftests/costs.txt 2>/dev/null || true

# Small pools, as a debug kernel is slow; the second line of options has modules of other drivers.
check-debug: deps-check-all
	@tools/memcast-kernel build debug
	@$(MAKE) -j$$(nproc) lib tools examples selftests $(B)/tools/vm-init
	@tools/run-selftests --devices 8 --pool-mib 128,64 --param imex_channels=2 \
		$$(sed -n 2p selftests/vm-options) \
		--env MEMCAST_TEST_TIMEOUT=15 --env MEMCAST_TEST_LOOPS=5 debug
	@tools/tests/suite/sanitized.sh

# Every data race that KCSAN sees in the module's code fails this goal.
check-kcsan: deps-check-all
	@tools/memcast-kernel build kcsan
	@$(MAKE) -j$$(nproc) lib tools examples selftests $(B)/tools/vm-init
	@tools/run-selftests --devices 8 --pool-mib 128,64 --param imex_channels=2 \
		$$(sed -n 2p selftests/vm-options) \
		--append kcsan.skip_watch=50 \
		--env MEMCAST_TEST_TIMEOUT=15 --env MEMCAST_TEST_LOOPS=20 kcsan

# --seconds: on a slow machine fewer values, rather than an evening
demo: deps
	@$(MAKE) -j$$(nproc) lib tools examples
	tools/memcast-vm $(cross:%=--arch %) --devices 4 -- $(B)/tools/memcast-perf allreduce --seconds 30
	tools/memcast-vm $(cross:%=--arch %) --devices 4 -- $(B)/examples/all-reduce-ptx

include packaging/install.mk
include packaging/man.mk
include packaging/packages.mk

clean:
	rm -rf $(B)

help:
	@echo 'make              library, tools and, with its headers there, the module for this kernel'
	@echo 'make demo         four devices in a virtual machine: all-reduce by functions in C, then by kernels'
	@echo 'make check        what a change can break: style, selftests in virtual machines with Linux 6.12;'
	@echo '                  JOBS=N: so many runs at a time (one more than processors); CHECK_KERNELS="6.12 backports"'
	@echo 'make check-all    all there is, on Linux 6.1 and 6.12; SECONDS=600: for each random test'
	@echo 'make test T=…     some of the selftests, in one machine: T="team_test bind_test" KERNEL=6.1,'
	@echo '                  some cases: T=share_test:by_scm_rights,by_pidfd_getfd, or CALL=cuMulticastBindMem:'
	@echo '                  the cases that make that call'
	@echo 'make check-debug  the selftests on a kernel with KASAN, lockdep, kmemleak (built once),'
	@echo '                  and the libraries with the sanitizers of gcc'
	@echo 'make check-kcsan  the selftests on a kernel that finds data races of the module'
	@echo 'make ARCH=arm64   builds for arm64, into build/arm64; so do kmod, test and check (emulated machines);'
	@echo '                  make deps-arm64 has the packages for that'
	@echo 'make costs        record what calls cost in instructions; make check holds them against it'
	@echo 'make kmod         the module for this kernel, or KERNEL=6.1|6.12|backports|debug|/path/to/build'
	@echo 'make install      library, headers, tools, module; PREFIX=/usr/local LIBDIR= DESTDIR= KERNEL='
	@echo '                  with DKMS=yes the module is built anew for each kernel to come'
	@echo 'make uninstall    remove what the same words have installed'
	@echo 'make dist         build/dist/memcast-$(VERSION).tar.gz, which builds without git'
	@echo 'make deb          Debian packages, in build/deb/'
	@echo 'make deps         the Debian packages that building and running take, as root;'
	@echo '                  make deps-check has those of make check, too; deps-check-all those of all goals'
	@echo 'make docs         docs/functions.md; docs-pictures: what a camera filmed into a team'
	@echo 'make check-style  checkpatch and sparse on the module; KERNEL= as above'
	@echo 'make lib|tools|examples|selftests|clean; V=1 shows each command'
	@echo 'tools/memcast-vm --help: any program in a virtual machine with memcast'

-include $(wildcard $(B)/lib/*.d $(B)/lib/*/*.d $(B)/lib/*/*/*.d $(B)/tools/*/*.d \
	 $(B)/tools/*/*/*.d $(B)/examples/*.d $(B)/selftests/*/*.d)
