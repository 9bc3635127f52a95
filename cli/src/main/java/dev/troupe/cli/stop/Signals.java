package dev.troupe.cli.stop;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The signals SIGINT (Ctrl-C), SIGTERM and SIGHUP (end of the terminal), delivered to a listener. The JVM itself would exit
 * at the first signal and ignore a second.
 */
public final class Signals {
    private static final List<String> NAMES = List.of("INT", "TERM", "HUP");

    private Signals() {
    }

    /**
     * Delivers the number of each signal to a listener from now on, on its own thread. Signals that the process ignores from
     * its start, as in the background of a shell, remain ignored. Only the JVM of the command calls this.
     */
    static void deliverTo(Consumer<Integer> listener) {
        try {
            // By reflection, since javac warns of this class, which is supported for lack of an alternative (JEP 260).
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object heard = Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[]{handler},
                    (proxy, method, arguments) -> switch (method.getName()) {
                        case "handle" -> {
                            listener.accept((Integer) signal.getMethod("getNumber").invoke(arguments[0]));
                            yield null;
                        }
                        case "hashCode" -> System.identityHashCode(proxy);
                        case "equals" -> proxy == arguments[0];
                        default -> "signal handler";
                    });
            for (String name : NAMES) {
                handle(signal, handler, name, heard);
            }
        } catch (ReflectiveOperationException absent) {
            throw new IllegalStateException("the JDK has no sun.misc.Signal", absent);
        }
    }

    private static void handle(Class<?> signal, Class<?> handler, String name, Object heard)
            throws ReflectiveOperationException {
        try {
            signal.getMethod("handle", signal, handler).invoke(null,
                    signal.getConstructor(String.class).newInstance(name), heard);
        } catch (java.lang.reflect.InvocationTargetException kept) {
            // The JVM reserves the signal, as with -Xrs, so the system's default action ends the process.
            Optional.ofNullable(kept.getCause()).filter(cause -> !(cause instanceof IllegalArgumentException))
                    .ifPresent(cause -> {
                        throw new IllegalStateException("SIG" + name + " cannot be handled", cause);
                    });
        }
    }
}
