package dev.troupe.bench.observe;

import dev.troupe.bench.observe.Recorded.Method;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The Java agent that makes the recording methods of a run switchable. When their class is loaded, it inserts a test at the
 * begin of each: if {@link RecordingSwitch} leaves its kind out, the method returns at once. Their sources have no such
 * test.
 */
public final class RecordingAgent {
    private static final ClassDesc SWITCH = ClassDesc.of(RecordingSwitch.class.getName());
    private static final MethodTypeDesc ASKS = MethodTypeDesc.of(ConstantDescs.CD_boolean, ConstantDescs.CD_int);
    private static final Set<Method> CHANGED = ConcurrentHashMap.newKeySet();
    private static volatile boolean isLoaded;

    private RecordingAgent() {
    }

    /** Called by the JVM in front of the main method. */
    public static void premain(String argument, Instrumentation instrumentation) {
        isLoaded = true;
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> type, ProtectionDomain domain,
                    byte[] bytes) {
                return changed(name.replace('/', '.'), bytes);
            }
        });
    }

    /** Returns the methods that are not changed, since their class was never loaded or they do not exist. */
    static Set<Method> unchanged() {
        if (!isLoaded) {
            throw new IllegalStateException("this benchmark needs its agent: start it by bench/observe/run");
        }
        Set<Method> all = new LinkedHashSet<>();
        Stream.of(Recorded.values()).forEach(kind -> all.addAll(kind.methods()));
        all.removeAll(CHANGED);
        return all;
    }

    /** Returns a class with the tests inserted; null if it has no recording method, as the JVM expects. */
    static byte[] changed(String type, byte[] bytes) {
        if (Stream.of(Recorded.values()).noneMatch(kind -> kind.methods().stream()
                .anyMatch(method -> method.type().equals(type)))) {
            return null;
        }
        Set<Method> found = new HashSet<>();
        ClassFile classes = ClassFile.of();
        ClassTransform transform = (builder, element) -> {
            Optional<Recorded> kind = element instanceof MethodModel method
                    ? kindOf(new Method(type, method.methodName().stringValue()))
                    : Optional.empty();
            if (kind.isPresent() && element instanceof MethodModel method) {
                found.add(new Method(type, method.methodName().stringValue()));
                builder.transformMethod(method, (body, part) -> {
                    if (part instanceof CodeModel code) {
                        body.transformCode(code, question(kind.get(), method));
                    } else {
                        body.with(part);
                    }
                });
            } else {
                builder.with(element);
            }
        };
        byte[] changed = classes.transformClass(classes.parse(bytes), transform);
        CHANGED.addAll(found);
        return changed;
    }

    private static Optional<Recorded> kindOf(Method method) {
        return Stream.of(Recorded.values()).filter(kind -> kind.methods().contains(method)).findFirst();
    }

    private static CodeTransform question(Recorded kind, MethodModel method) {
        TypeKind result = TypeKind.from(method.methodTypeSymbol().returnType());
        return new CodeTransform() {
            @Override
            public void atStart(CodeBuilder code) {
                Label goesOn = code.newLabel();
                code.loadConstant(kind.ordinal()).invokestatic(SWITCH, "leavesOut", ASKS).ifeq(goesOn);
                switch (result.asLoadable()) {
                    case LONG -> code.lconst_0();
                    case INT -> code.iconst_0();
                    case REFERENCE -> code.aconst_null();
                    case VOID -> {
                        // nothing to return
                    }
                    default -> throw new IllegalStateException(method + " returns what the benchmark does not know");
                }
                code.return_(result).labelBinding(goesOn);
            }

            @Override
            public void accept(CodeBuilder code, CodeElement element) {
                code.with(element);
            }
        };
    }
}
