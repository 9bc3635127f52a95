package dev.troupe.engine.nd4j;

import java.util.List;
import java.util.Optional;
import org.bytedeco.javacpp.Loader;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.nativeblas.NativeOpsHolder;

/**
 * ND4J itself, loaded once for the process. Its number of threads is one for the whole process and can only change while
 * nothing computes; so the open engines must agree on it, and an engine that wants another number is refused.
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
     * Loads ND4J where that is not done yet, and counts one more open engine. Of more threads than the machine has, ND4J
     * takes as many as there are.
     *
     * @throws IllegalStateException with the sentence of {@link #obstacle} where there is one
     */
    static synchronized void engineOpens(int wantedThreads) {
        obstacle(wantedThreads).ifPresent(sentence -> {
            throw new IllegalStateException(sentence);
        });
        // By default JavaCPP allows as much native memory as there is heap, and counts heap and mapped files against it.
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

    /** Counts one open engine less. */
    static synchronized void engineCloses() {
        openEngines--;
    }

    /** Sets what OpenMP keeps apart for each thread that calls it: how many threads it adds. */
    static void calledFromThisThread(int ownThreads) {
        NativeOpsHolder.getInstance().getDeviceNativeOps().setOmpNumThreads(ownThreads);
    }

    private static void setIfAbsent(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }
}
