package dev.troupe.engine.cuda.blas;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ToIntFunction;

/** Methods of an object as native functions: an int is an int, a long a size, and a segment a pointer. */
final class NativeFunctions {
    private NativeFunctions() {
    }

    /**
     * Returns the functions by the names of the methods.
     *
     * @param lookup sees the methods
     * @param prefix of their names
     * @param failed returns the status of a function with a method that has thrown: an exception would end the JVM
     */
    static Map<String, MemorySegment> of(Object object, MethodHandles.Lookup lookup, String prefix, Arena arena,
            ToIntFunction<Throwable> failed) {
        Map<String, MemorySegment> functions = new HashMap<>();
        try {
            MethodHandle status = MethodHandles.publicLookup().findVirtual(ToIntFunction.class, "applyAsInt",
                    MethodType.methodType(int.class, Object.class)).bindTo(failed)
                    .asType(MethodType.methodType(int.class, Throwable.class));
            for (Method method : object.getClass().getDeclaredMethods()) {
                if (method.getName().startsWith(prefix)) {
                    functions.put(method.getName(), stub(lookup.unreflect(method).bindTo(object), status, arena));
                }
            }
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException(wrong);
        }
        return functions;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment stub(MethodHandle method, MethodHandle failed, Arena arena) {
        MethodHandle target = method.type().returnType() == int.class
                ? MethodHandles.catchException(method, Throwable.class,
                        MethodHandles.dropArguments(failed, 1, method.type().parameterArray()))
                : method;
        FunctionDescriptor descriptor = FunctionDescriptor.of(layout(target.type().returnType()),
                target.type().parameterList().stream().map(NativeFunctions::layout).toArray(MemoryLayout[]::new));
        return Linker.nativeLinker().upcallStub(target, descriptor, arena);
    }

    private static MemoryLayout layout(Class<?> type) {
        return type == int.class ? JAVA_INT : type == long.class ? JAVA_LONG : ADDRESS;
    }
}
