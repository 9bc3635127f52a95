package dev.troupe.engine.nd4j;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A look at the NVIDIA driver's GPUs before ND4J loads: on a machine without a suitable GPU, ND4J's CUDA backend ends in
 * native errors without a reason.
 *
 * <p>Machine code of one compute capability also runs on later ones with the same major number. ND4J 1.0.0-M2.1 has code for
 * 3.7, 5.x, 6.x, 7.x, 8.0 and 8.6, and no PTX; so it runs on 8.9 and not on 9.0.
 */
final class CudaProbe {
    private static final String SERVED = "ND4J 1.0.0-M2.1 has machine code for compute capability 3.7 to 8.6 and no PTX, so it serves Kepler to Ada GPUs";
    private static final int NO_DEVICE = 100;
    private static final int CAPABILITY_MAJOR = 75;
    private static final int CAPABILITY_MINOR = 76;

    sealed interface Answer {
    }

    /** No driver library, or one without a needed function. */
    record NoDriver(String reason) implements Answer {
    }

    /** A call of the driver failed with a CUresult. */
    record Failure(String call, int result) implements Answer {
    }

    record Devices(List<Capability> capabilities) implements Answer {
        Devices {
            capabilities = List.copyOf(capabilities);
        }
    }

    record Capability(int major, int minor) {
        private boolean served() {
            return major == 3 ? minor >= 7 : major >= 5 && major <= 8;
        }

        @Override
        public String toString() {
            return major + "." + minor;
        }
    }

    private CudaProbe() {
    }

    /** Why ND4J's CUDA backend cannot compute here, in one sentence; empty when it can. */
    static Optional<String> obstacle(Answer answer) {
        return Optional.ofNullable(switch (answer) {
            case NoDriver(String reason) -> "the CUDA engine needs an NVIDIA driver, but " + reason
                    + "; install the driver, or build without -Pnd4j-cuda";
            case Failure(String call, int result) when result == NO_DEVICE -> noDevice(call + " found none");
            case Failure(String call, int result) -> "the CUDA engine needs a working NVIDIA driver, but " + call
                    + " failed with error " + result + "; see nvidia-smi, or build without -Pnd4j-cuda";
            case Devices(List<Capability> none) when none.isEmpty() -> noDevice("the driver lists none");
            case Devices(List<Capability> capabilities) -> unserved(capabilities);
        });
    }

    private static String noDevice(String found) {
        return "the CUDA engine needs an NVIDIA GPU, but " + found
                + "; check CUDA_VISIBLE_DEVICES, or build without -Pnd4j-cuda";
    }

    private static String unserved(List<Capability> capabilities) {
        for (int device = 0; device < capabilities.size(); device++) {
            Capability capability = capabilities.get(device);
            if (!capability.served()) {
                return "GPU " + device + " has compute capability " + capability + ", but " + SERVED
                        + "; hide it with CUDA_VISIBLE_DEVICES, or build without -Pnd4j-cuda";
            }
        }
        return null;
    }

    @SuppressWarnings("restricted")
    static Answer ask() {
        String library = System.getProperty("os.name").startsWith("Windows") ? "nvcuda.dll" : "libcuda.so.1";
        try (Arena arena = Arena.ofConfined()) {
            // The driver stays loaded: it must not be unloaded once it has been initialised.
            return new Driver(SymbolLookup.libraryLookup(library, Arena.global()), arena).devices();
        } catch (IllegalArgumentException missing) {
            return new NoDriver("there is no " + library);
        }
    }

    /** The few functions of the driver that are needed. */
    private record Driver(SymbolLookup symbols, Arena arena) {
        Answer devices() {
            int result = call("cuInit", 0);
            if (result != 0) {
                return new Failure("cuInit", result);
            }
            MemorySegment number = arena.allocate(ValueLayout.JAVA_INT);
            result = call("cuDeviceGetCount", number);
            if (result != 0) {
                return new Failure("cuDeviceGetCount", result);
            }
            int count = number.get(ValueLayout.JAVA_INT, 0);
            List<Capability> capabilities = new ArrayList<>();
            for (int device = 0; device < count; device++) {
                int[] found = new int[2];
                for (int part = 0; part < 2; part++) {
                    result = call("cuDeviceGetAttribute", number, part == 0 ? CAPABILITY_MAJOR : CAPABILITY_MINOR,
                            device);
                    if (result != 0) {
                        return new Failure("cuDeviceGetAttribute", result);
                    }
                    found[part] = number.get(ValueLayout.JAVA_INT, 0);
                }
                capabilities.add(new Capability(found[0], found[1]));
            }
            return new Devices(capabilities);
        }

        @SuppressWarnings("restricted")
        private int call(String name, Object... arguments) {
            MemorySegment function = symbols.find(name).orElseThrow(() -> new IllegalArgumentException(name));
            ValueLayout[] layouts = new ValueLayout[arguments.length];
            for (int i = 0; i < arguments.length; i++) {
                layouts[i] = arguments[i] instanceof Integer ? ValueLayout.JAVA_INT : ValueLayout.ADDRESS;
            }
            try {
                return (int) Linker.nativeLinker().downcallHandle(function, FunctionDescriptor.of(ValueLayout.JAVA_INT,
                        layouts)).invokeWithArguments(arguments);
            } catch (Throwable unexpected) {
                throw new IllegalStateException("calling " + name + " of the NVIDIA driver failed", unexpected);
            }
        }
    }
}
