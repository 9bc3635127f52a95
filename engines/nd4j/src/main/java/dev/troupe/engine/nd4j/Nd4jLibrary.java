package dev.troupe.engine.nd4j;

import java.util.List;
import java.util.Optional;
import org.bytedeco.javacpp.Loader;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.nativeblas.NativeOpsHolder;

/**
 * ND4J itself, loaded once for the process. The whole process has one number of threads, which can only change while nothing
 * computes; so an engine with another number than the open engines is refused.
 *
 * <p>Thread rule: any thread.
 */
final class Nd4jLibrary {
    private static final String CUDA_BACKEND = "org.nd4j.linalg.jcublas.JCublasBackend";
    private static final String CPU_BACKEND = "org.nd4j.linalg.cpu.nativecpu.CpuBackend";

    private static int openEngines;
    private static int threads;

    private Nd4jLibrary() {
    }

    /** Whether this build computes on a GPU: the CUDA backend is on the class path. */
    static boolean usesCuda() {
        return Nd4jLibrary.class.getClassLoader().getResource(CUDA_BACKEND.replace('.', '/') + ".class") != null;
    }

    /** Why ND4J cannot compute here with {@code wantedThreads} threads, in one sentence; loads nothing of ND4J. */
    static synchronized Optional<String> obstacle(int wantedThreads) {
        if (openEngines > 0 && threads != wantedThreads) {
            return Optional.of("ND4J has one number of threads for the process and an open engine set it to " + threads
                    + ", so " + wantedThreads + " cannot be had; give all engines the same number of threads");
        }
        if (usesCuda()) {
            return CudaProbe.obstacle(CudaProbe.ask());
        }
        ClassLoader loader = Nd4jLibrary.class.getClassLoader();
        String platform = Loader.Detector.getPlatform();
        String natives = CPU_BACKEND.substring(0, CPU_BACKEND.lastIndexOf('.')).replace('.', '/') + "/bindings/"
                + platform + "/";
        for (String name : List.of("libjnind4jcpu.so", "libjnind4jcpu.dylib", "jnind4jcpu.dll")) {
            if (loader.getResource(natives + name) != null) {
                return Optional.empty();
            }
        }
        return Optional.of("the class path has no ND4J library for " + platform + ": add org.nd4j:nd4j-native,"
                + " org.bytedeco:openblas and org.bytedeco:javacpp with the classifier " + platform
                + " in the versions of troupe-engine-nd4j, or take another engine");
    }

    /**
     * Loads ND4J, if it is not loaded, and counts one more open engine. ND4J uses at most as many threads as the machine
     * has.
     *
     * @throws IllegalStateException with the sentence of {@link #obstacle}, if any
     */
    static synchronized void engineOpens(int wantedThreads) {
        obstacle(wantedThreads).ifPresent(sentence -> {
            throw new IllegalStateException(sentence);
        });
        // By default JavaCPP limits native memory to the size of the heap, and counts heap and mapped files as well.
        setIfAbsent("org.bytedeco.javacpp.maxBytes", "0");
        setIfAbsent("org.bytedeco.javacpp.maxPhysicalBytes", "0");
        setIfAbsent("org.nd4j.log.initialization", "false");
        try {
            if (!usesCuda()) {
                Nd4j.getEnvironment().setMaxMasterThreads(Math.min(wantedThreads, Nd4j.getEnvironment().maxThreads()));
                Nd4j.factory().blas().setMaxThreads(wantedThreads);
            }
        } catch (LinkageError failure) {
            throw new IllegalStateException("ND4J could not load its native library (" + failure
                    + "); take another engine", failure);
        }
        threads = wantedThreads;
        openEngines++;
    }

    static synchronized void engineCloses() {
        openEngines--;
    }

    /** Sets OpenMP's number of threads, which is separate for each calling thread. */
    static void calledFromThisThread(int ownThreads) {
        NativeOpsHolder.getInstance().getDeviceNativeOps().setOmpNumThreads(ownThreads);
    }

    private static void setIfAbsent(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }
}
