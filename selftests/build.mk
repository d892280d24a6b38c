# SPDX-License-Identifier: MIT
#
# How the top Makefile builds the selftests, on the kernel's own harness. (selftests/Makefile builds a copy
# of this folder in a kernel's sources.)

# Tests are in folders by subject; built, all are in one, so a name stands for one test.
$(foreach file,$(wildcard selftests/*.[ch] selftests/host-*),$(error $(file): move it to a folder of selftests/))
# others_tests: about instructions of other processors
others_tests	 := $(if $(filter x86,$(arch)),selftests/arm64/%,selftests/trap/% selftests/lazy/lazy_cost_test.c)
test_sources	 := $(filter-out selftests/kmod/% selftests/multimem/% $(others_tests),$(wildcard selftests/*/*.c))
test_mains	 := $(filter-out $(others_tests),$(wildcard selftests/*/*_test.c))
test_shared	 := $(foreach file,$(filter-out $(test_mains),$(test_sources)),$(if $(filter host-%,$(notdir $(file))),,$(file)))
test_programs	 := $(patsubst %.c,$(B)/selftests/%,$(notdir $(test_mains)))
test_tables	 := $(patsubst %,$(B)/%,$(wildcard selftests/facts/tables/*.tsv))
test_scripts	 := selftests/run.sh $(wildcard selftests/*/*_test.sh)

tests	 := $(test_programs) $(patsubst %.sh,$(B)/selftests/%,$(notdir $(test_scripts))) \
	    $(if $(filter x86,$(arch)),$(patsubst %,$(B)/selftests/%,host-trap host-trap-signal host-trap-stack)) \
	    $(if $(cross),,$(patsubst %,$(B)/selftests/%,host-window host-makers host-bulk-way)) \
	    $(examples:$(B)/%=$(B)/selftests/%) $(B)/selftests/examples/readme \
	    $(B)/selftests/memcast-smi $(B)/selftests/vm-watch \
	    $(test_tables)
nvidia	 := $(firstword $(wildcard $(addsuffix /include/cuda.h,$(CUDA_HOME) /usr/local/cuda)))
# for another processor there is no runtime of NVIDIA's
ifneq ($(if $(cross),,$(nvidia)),)
of_nvidia := address copy device entry memory surface team
ifneq ($(wildcard $(dir $(nvidia))../lib64/libcudart.so.13),)
# NVIDIA's runtime may hold what locks it likes while it calls the driver.
of_nvidia += $(filter-out runtime_block,$(patsubst %_test.c,%,$(notdir $(wildcard selftests/runtime/*_test.c))))
nvcc	 := $(wildcard $(dir $(nvidia))../bin/nvcc)
tests	 += $(if $(nvcc),$(B)/selftests/nvcc_runtime_test $(B)/selftests/nvcc_per_thread_test)
endif
tests	 += $(of_nvidia:%=$(B)/selftests/nvidia_%_test)
endif

selftests: $(tests)

harness = $(shell tools/memcast-kernel source)/tools/testing/selftests
test_includes := -Iselftests $(patsubst %/,-I%,$(sort $(dir $(wildcard selftests/*/*.h))))
# for the tests with other drivers, and the pictures that they make
test_cflags = $(test_includes) $(call pkg,--cflags,libdrm libpng json-c)
test_libs = $(call pkg,--libs,libdrm libpng json-c)

$(B)/selftests/%.o: selftests/%.c
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(flags) $(test_cflags) -isystem $(harness) -c -o $@ $<

$(B)/selftests/shared.a: $(test_shared:selftests/%.c=$(B)/selftests/%.o)
	@rm -f $@
	$(call quiet,AR)$(binutils)ar rcs $@ $^

# Tests of a companion link with it as well.
runtime_tests := $(patsubst %.c,$(B)/selftests/%,$(notdir $(wildcard selftests/runtime/*_test.c)))
$(runtime_tests): above = -lcudart
$(runtime_tests): | $(B)/lib/$(so_cudart)

$(foreach file,$(test_mains),$(eval $(B)/selftests/$(notdir $(file:.c=)): $(file:%.c=$(B)/%.o)))
$(test_programs): $(B)/selftests/shared.a | $(linked)
	$(call quiet,LD)$(CC) -pthread -o $@ $(filter %.o,$^) $(filter %.a,$^) $(link) $(above) $(test_libs) -lm

# Blocks of translated PTX run without a device, and without the rest of the library. The test looks
# on which stack they take memory.
$(B)/selftests/ptx/blocks_test.o: test_includes += -Ilib
$(B)/selftests/blocks_test: $(patsubst lib/%.c,$(B)/lib/%.o,$(wildcard lib/ptx/run/*.c lib/fiber/*.c lib/fiber/$(arch)/*.c))
$(B)/selftests/blocks_test: above = -Wl,--wrap=calloc,--wrap=realloc,--wrap=mmap

nvml_tests := $(patsubst %.c,$(B)/selftests/%,$(notdir $(wildcard selftests/nvml/nvml*_test.c)))
$(nvml_tests): above = -lnvidia-ml
$(nvml_tests): | $(B)/lib/$(so_nvml)

# Programs whose symbols the libraries can see, as with -rdynamic
$(B)/selftests/entry_test: above = -Wl,--export-dynamic-symbol=cuStreamQuery
$(B)/selftests/ptx_test: above = -Wl,--export-dynamic-symbol=LLVMContextCreate

# Without the module, so with another idea of where windows are
$(B)/selftests/host-trap $(B)/selftests/host-trap-signal $(B)/selftests/host-trap-stack: \
		$(B)/selftests/%: selftests/trap/%.c \
		$(B)/selftests/shared.a $(libcuda) $(trap_object)
	@mkdir -p $(B)/$(<D)
	$(call quiet,CC)$(CC) $(flags) -Iinclude/uapi -Ilib -isystem $(harness) -MF $(B)/$(<:.c=.d) \
		-pthread -o $@ $< $(trap_objects) $(B)/lib/fault/signal.o $(B)/lib/fault/stack.o \
		$(patsubst %,$(B)/lib/%.o,fault/say fault/$(arch)/frame fault/$(arch)/keys base/log_file base/$(arch)/keys) \
		$(B)/selftests/shared.a -Wl,-z,now -lZydis

# All constants and functions, for facts_names.c
$(B)/selftests/facts-names.h: include/cuda/cuda.h
	@mkdir -p $(@D)
	$(call quiet,GEN)sed -nE -e 's/^\t(CU(DA)?_[A-Z0-9_]+)[ \t]*(=|,|$$|\/\*).*/CONSTANT(\1)/p' \
		-e 's/^CUresult CUDAAPI (cu\w+)\(.*/FUNCTION(\1)/p' $< >$@

$(B)/selftests/facts/facts_names.o: $(B)/selftests/facts-names.h
$(B)/selftests/facts/facts_names.o: test_cflags += -I$(B)/selftests

$(B)/selftests/facts/tables/%.tsv: selftests/facts/tables/%.tsv
	@mkdir -p $(@D)
	@install -m 644 $< $@

# Those of the users, where tests run them
$(B)/selftests/memcast-smi $(B)/selftests/vm-watch: $(B)/selftests/%: $(B)/tools/%
	@mkdir -p $(@D)
	@install -m 755 $< $@

$(B)/selftests/examples/%: $(B)/examples/%
	@mkdir -p $(@D)
	@install -m 755 $< $@

$(B)/examples/readme.c: README.md
	@mkdir -p $(@D)
	@sed -n '/^```c$$/,/^```$$/{ /^```/!p }' $< >$@

$(B)/examples/readme: $(B)/examples/readme.c | $(linked)
	$(call quiet,CC)$(CC) $(filter-out $(gnu),$(flags)) -o $@ $< $(link)

# A source of the library's within a program
$(B)/selftests/host-window: selftests/team/host-window.c $(libcuda)
$(B)/selftests/host-makers: selftests/stream/host-makers.c $(libcuda)
$(B)/selftests/host-bulk-way: selftests/array/host-bulk-way.c | $(libcuda)
$(B)/selftests/host-window $(B)/selftests/host-makers $(B)/selftests/host-bulk-way:
	@mkdir -p $(B)/$(<D)
	$(call quiet,CC)$(CC) $(flags) -Iinclude/uapi -Ilib -Ilib/array -Ilib/array/$(arch) -isystem $(harness) \
		-MF $(B)/$(<:.c=.d) -pthread -o $@ $<

# As programs of somebody else's: NVIDIA's header, NVIDIA's stub to link with
ifneq ($(of_nvidia),)
$(foreach name,$(of_nvidia),$(eval $(B)/selftests/nvidia_$(name)_test: $(filter %/$(name)_test.c,$(test_mains))))
$(of_nvidia:%=$(B)/selftests/nvidia_%_test): $(B)/selftests/nvidia_%_test: $(B)/selftests/shared.a
	@mkdir -p $(patsubst %,$(B)/%,$(dir $(filter %.c,$^)))
	$(call quiet,CC)$(CC) -I$(dir $(nvidia)) $(flags) $(test_includes) -isystem $(harness) -pthread \
		-MF $(B)/$(patsubst %.c,%-nvidia.d,$(filter %.c,$^)) -o $@ $(filter %.c,$^) $(filter %.a,$^) \
		-L$(dir $(nvidia))../lib64/stubs -L$(dir $(nvidia))../lib64 -Wl,--as-needed -lcuda \
		$(if $(findstring runtime,$*),-lcudart) -lm

# With kernels in it, whose launches are refused
$(B)/selftests/nvcc_per_thread_test: nvcc_flags = -default-stream per-thread
$(B)/selftests/nvcc_%_test: selftests/runtime/nvcc_runtime_test.cu
	@mkdir -p $(@D)
	$(call quiet,NVCC)$(nvcc) --cudart shared -arch=sm_90 $(nvcc_flags) -o $@ $<
endif

$(foreach file,$(test_scripts),$(eval $(B)/selftests/$(notdir $(file:.sh=)): $(file)))
$(patsubst %.sh,$(B)/selftests/%,$(notdir $(test_scripts))):
	@mkdir -p $(@D)
	@install -m 755 $< $@
