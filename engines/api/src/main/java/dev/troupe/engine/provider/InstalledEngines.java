package dev.troupe.engine.provider;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/**
 * The engines on the class path, loaded by the class loader of the library: the loader of a pool's thread finds no
 * engine in a fat jar.
 *
 * <p>Thread rule: any thread.
 */
public final class InstalledEngines {
    /**
     * Engines of this repository by name, since a jar shaded without merging its service files registers only one of them.
     */
    private static final List<String> OWN = List.of("cpu.Cpu", "cuda.Cuda", "emulated.Emulated", "nd4j.Nd4j",
            "reference.Reference");

    private InstalledEngines() {
    }

    /** Returns the engines, the preferred one first. */
    public static List<EngineProvider> find() {
        ClassLoader loader = loader();
        List<EngineProvider> found = ServiceLoader.load(EngineProvider.class, loader).stream()
                .map(ServiceLoader.Provider::get).collect(Collectors.toCollection(ArrayList::new));
        for (String name : OWN) {
            String type = "dev.troupe.engine." + name + "EngineProvider";
            if (found.stream().noneMatch(provider -> provider.getClass().getName().equals(type))) {
                try {
                    found.add((EngineProvider) Class.forName(type, true, loader).getConstructor().newInstance());
                } catch (ClassNotFoundException _) {
                    // that engine is not installed
                } catch (ReflectiveOperationException impossible) {
                    throw new IllegalStateException(type + " has no constructor without parameters", impossible);
                }
            }
        }
        found.sort(Comparator.comparingInt(EngineProvider::preference).reversed());
        return List.copyOf(found);
    }

    /**
     * Returns the class loader for services, configuration and threads of a run: the calling thread's if it finds this
     * library, as in an application; otherwise the library's own.
     */
    public static ClassLoader loader() {
        ClassLoader ofThread = Thread.currentThread().getContextClassLoader();
        try {
            return ofThread != null
                    && ofThread.loadClass(InstalledEngines.class.getName()) == InstalledEngines.class
                            ? ofThread
                            : InstalledEngines.class.getClassLoader();
        } catch (ClassNotFoundException | LinkageError _) {
            return InstalledEngines.class.getClassLoader();
        }
    }
}
