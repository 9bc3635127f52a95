package dev.troupe.engine.cpu.library;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.troupe.engine.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The part of oneDNN's C interface that this engine uses. Descriptors, primitives and memories are addresses as plain
 * numbers; their creator destroys them.
 *
 * <p>Thread rule: any thread, except {@link #execute}: one thread at a time uses a primitive's memories.
 */
public final class Dnnl {
    static final long NONE = 0;

    // From dnnl_types.h and dnnl_common_types.h of oneDNN 3.
    private static final int DONE = 0;
    private static final int UNIMPLEMENTED = 3;
    private static final int CPU = 1;
    private static final int IN_ORDER = 1;
    private static final int SAME_TYPE = 0;
    private static final int LINEAR = 0x26;
    private static final int ANY_FORMAT = 1;
    private static final int SCRATCHPAD_OF_THE_USER = 1;
    private static final int QUERY_WEIGHTS = 131;
    private static final int QUERY_SCRATCHPAD = 136;
    /** struct { int arg; dnnl_memory_t memory; } */
    static final long ARGUMENT_BYTES = 16;
    public static final int SOURCE = 1;
    public static final int WEIGHTS = 33;
    public static final int DESTINATION = 17;
    public static final int BIAS = 41;
    public static final int SCRATCHPAD = 80;

    private static final MethodHandle ENGINE_CREATE = make("dnnl_engine_create", ADDRESS, JAVA_INT, JAVA_LONG);
    private static final MethodHandle STREAM_CREATE = make("dnnl_stream_create", ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle WITH_STRIDES = make("dnnl_memory_desc_create_with_strides", ADDRESS, JAVA_INT,
            ADDRESS, JAVA_INT, ADDRESS);
    private static final MethodHandle WITH_TAG = make("dnnl_memory_desc_create_with_tag", ADDRESS, JAVA_INT, ADDRESS,
            JAVA_INT, JAVA_INT);
    private static final MethodHandle PART = make("dnnl_memory_desc_create_submemory", ADDRESS, JAVA_LONG, ADDRESS,
            ADDRESS);
    private static final MethodHandle CLONE = make("dnnl_memory_desc_clone", ADDRESS, JAVA_LONG);
    private static final MethodHandle BYTES = OneDnn.function("dnnl_memory_desc_get_size",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ATTRIBUTES_CREATE = make("dnnl_primitive_attr_create", ADDRESS);
    private static final MethodHandle SET_SCRATCHPAD_MODE = make("dnnl_primitive_attr_set_scratchpad_mode", JAVA_LONG,
            JAVA_INT);
    private static final MethodHandle POST_OPS_CREATE = make("dnnl_post_ops_create", ADDRESS);
    private static final MethodHandle APPEND_ELTWISE = make("dnnl_post_ops_append_eltwise", JAVA_LONG, JAVA_INT,
            JAVA_FLOAT, JAVA_FLOAT);
    private static final MethodHandle APPEND_SUM = make("dnnl_post_ops_append_sum", JAVA_LONG, JAVA_FLOAT, JAVA_INT,
            JAVA_INT);
    private static final MethodHandle SET_POST_OPS = make("dnnl_primitive_attr_set_post_ops", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle MATMUL_PLAN = make("dnnl_matmul_primitive_desc_create", ADDRESS, JAVA_LONG,
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle REORDER_PLAN = make("dnnl_reorder_primitive_desc_create", ADDRESS, JAVA_LONG,
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle QUERY = OneDnn.function("dnnl_primitive_desc_query_md",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));
    private static final MethodHandle PRIMITIVE_CREATE = make("dnnl_primitive_create", ADDRESS, JAVA_LONG);
    private static final MethodHandle MEMORY_CREATE = make("dnnl_memory_create", ADDRESS, JAVA_LONG, JAVA_LONG,
            JAVA_LONG);
    private static final MethodHandle SET_HANDLE = OneDnn.function("dnnl_memory_set_data_handle",
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG), Linker.Option.critical(false));
    private static final MethodHandle EXECUTE = make("dnnl_primitive_execute", JAVA_LONG, JAVA_LONG, JAVA_INT,
            JAVA_LONG);
    private static final MethodHandle DESCRIPTOR_DESTROY = make("dnnl_memory_desc_destroy", JAVA_LONG);
    private static final MethodHandle ATTRIBUTES_DESTROY = make("dnnl_primitive_attr_destroy", JAVA_LONG);
    private static final MethodHandle POST_OPS_DESTROY = make("dnnl_post_ops_destroy", JAVA_LONG);
    private static final MethodHandle PLAN_DESTROY = make("dnnl_primitive_desc_destroy", JAVA_LONG);
    private static final MethodHandle PRIMITIVE_DESTROY = make("dnnl_primitive_destroy", JAVA_LONG);
    private static final MethodHandle MEMORY_DESTROY = make("dnnl_memory_destroy", JAVA_LONG);

    /** One engine and one stream for the process: on a processor neither has state. */
    private static final long ENGINE = created("dnnl_engine_create",
            made -> (int) ENGINE_CREATE.invokeExact(made, CPU, 0L));
    private static final long STREAM = created("dnnl_stream_create",
            made -> (int) STREAM_CREATE.invokeExact(made, ENGINE, IN_ORDER));

    private Dnnl() {
    }

    /** A native call that may write an object's address. */
    @FunctionalInterface
    private interface Creation {
        int into(MemorySegment made) throws Throwable;
    }

    /**
     * A matrix [rows x columns] that is stored row by row, or column by column if transposed.
     *
     * @param type {@link DataType#FLOAT32} or {@link DataType#BFLOAT16}
     * @param stride elements from one stored row to the next
     */
    public static long descriptor(DataType type, long rows, long columns, boolean transposed, long stride) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment sizes = local.allocateFrom(JAVA_LONG, rows, columns);
            MemorySegment strides = local.allocateFrom(JAVA_LONG, transposed ? 1 : stride, transposed ? stride : 1);
            return created("dnnl_memory_desc_create_with_strides",
                    made -> (int) WITH_STRIDES.invokeExact(made, 2, sizes, codeOf(type), strides));
        }
    }

    /** A matrix [rows x columns] in the primitive's preferred order. */
    public static long anyDescriptor(DataType type, long rows, long columns) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment sizes = local.allocateFrom(JAVA_LONG, rows, columns);
            return created("dnnl_memory_desc_create_with_tag",
                    made -> (int) WITH_TAG.invokeExact(made, 2, sizes, codeOf(type), ANY_FORMAT));
        }
    }

    /** Some rows of a matrix [.. x columns] in any order. They begin and end at its blocks. */
    public static long rowsOf(long matrix, long first, long rows, long columns) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment sizes = local.allocateFrom(JAVA_LONG, rows, columns);
            MemorySegment offsets = local.allocateFrom(JAVA_LONG, first, 0);
            return created("dnnl_memory_desc_create_submemory",
                    made -> (int) PART.invokeExact(made, matrix, sizes, offsets));
        }
    }

    private static int codeOf(DataType type) {
        return switch (type) {
            case FLOAT32 -> 3;
            case BFLOAT16 -> 2;
            case FLOAT64, INT32 -> throw new IllegalArgumentException("products are of no " + type);
        };
    }

    /**
     * The plan of c = factor (a b + bias), or of c += factor a b, to be computed by the calling thread alone.
     *
     * @param bias [1 x columns of c]; 0 for none
     */
    public static long matmulPlan(long a, long b, long bias, long c, float factor, boolean added) {
        long plan = matmulPlanIfAny(a, b, bias, c, factor, added);
        if (plan == NONE) {
            throw new IllegalStateException("oneDNN has no such matrix product for this processor");
        }
        return plan;
    }

    /** The same, or {@link #NONE} if oneDNN has no such product for this processor. */
    static long matmulPlanIfAny(long a, long b, long bias, long c, float factor, boolean added) {
        // oneDNN plans for all threads that it finds.
        OneDnn.useThisThreadAlone();
        long attributes = created("dnnl_primitive_attr_create", made -> (int) ATTRIBUTES_CREATE.invokeExact(made));
        call("dnnl_primitive_attr_set_scratchpad_mode",
                () -> (int) SET_SCRATCHPAD_MODE.invokeExact(attributes, SCRATCHPAD_OF_THE_USER));
        if (added || factor != 1) {
            long after = created("dnnl_post_ops_create", made -> (int) POST_OPS_CREATE.invokeExact(made));
            if (factor != 1) {
                call("dnnl_post_ops_append_eltwise",
                        () -> (int) APPEND_ELTWISE.invokeExact(after, LINEAR, factor, 0f));
            }
            if (added) {
                call("dnnl_post_ops_append_sum", () -> (int) APPEND_SUM.invokeExact(after, 1f, 0, SAME_TYPE));
            }
            call("dnnl_primitive_attr_set_post_ops", () -> (int) SET_POST_OPS.invokeExact(attributes, after));
            call("dnnl_post_ops_destroy", () -> (int) POST_OPS_DESTROY.invokeExact(after));
        }
        try {
            return created("dnnl_matmul_primitive_desc_create", made -> {
                int status = (int) MATMUL_PLAN.invokeExact(made, ENGINE, a, b, bias, c, attributes);
                return status == UNIMPLEMENTED ? DONE : status; // what was to be made stays NONE
            });
        } finally {
            call("dnnl_primitive_attr_destroy", () -> (int) ATTRIBUTES_DESTROY.invokeExact(attributes));
        }
    }

    /** The plan of a copy from one order of elements to another. */
    public static long reorderPlan(long from, long to) {
        OneDnn.useThisThreadAlone();
        return created("dnnl_reorder_primitive_desc_create",
                made -> (int) REORDER_PLAN.invokeExact(made, from, ENGINE, to, ENGINE, 0L));
    }

    /** The order of elements of b in a plan. */
    public static long weightsOf(long plan) {
        long known = query(plan, QUERY_WEIGHTS);
        return created("dnnl_memory_desc_clone", made -> (int) CLONE.invokeExact(made, known));
    }

    /** The descriptor of a plan's scratch memory; the plan owns it. */
    public static long scratchpadOf(long plan) {
        return query(plan, QUERY_SCRATCHPAD);
    }

    private static long query(long plan, int what) {
        try {
            return (long) QUERY.invokeExact(plan, what, 0);
        } catch (Throwable failure) {
            throw failed("dnnl_primitive_desc_query_md", failure);
        }
    }

    public static long bytes(long descriptor) {
        try {
            return (long) BYTES.invokeExact(descriptor);
        } catch (Throwable failure) {
            throw failed("dnnl_memory_desc_get_size", failure);
        }
    }

    static long primitive(long plan) {
        return created("dnnl_primitive_create", made -> (int) PRIMITIVE_CREATE.invokeExact(made, plan));
    }

    /** A memory without an address. */
    static long memory(long descriptor) {
        return created("dnnl_memory_create", made -> (int) MEMORY_CREATE.invokeExact(made, descriptor, ENGINE, 0L));
    }

    static void setAddress(long memory, long address) {
        int status;
        try {
            status = (int) SET_HANDLE.invokeExact(memory, address);
        } catch (Throwable failure) {
            throw failed("dnnl_memory_set_data_handle", failure);
        }
        check("dnnl_memory_set_data_handle", status);
    }

    /** Runs a primitive on the calling thread; arguments are at an address, {@link #ARGUMENT_BYTES} each. */
    static void execute(long primitive, int argumentCount, long arguments) {
        int status;
        ProductEvent event = new ProductEvent();
        event.begin();
        try {
            OneDnn.useThisThreadAlone();
            status = (int) EXECUTE.invokeExact(primitive, STREAM, argumentCount, arguments);
        } catch (Throwable failure) {
            throw failed("dnnl_primitive_execute", failure);
        }
        event.commit();
        check("dnnl_primitive_execute", status);
    }

    public static void destroyDescriptor(long descriptor) {
        call("dnnl_memory_desc_destroy", () -> (int) DESCRIPTOR_DESTROY.invokeExact(descriptor));
    }

    public static void destroyPlan(long plan) {
        call("dnnl_primitive_desc_destroy", () -> (int) PLAN_DESTROY.invokeExact(plan));
    }

    static void destroyPrimitive(long primitive) {
        call("dnnl_primitive_destroy", () -> (int) PRIMITIVE_DESTROY.invokeExact(primitive));
    }

    static void destroyMemory(long memory) {
        call("dnnl_memory_destroy", () -> (int) MEMORY_DESTROY.invokeExact(memory));
    }

    @FunctionalInterface
    private interface Call {
        int run() throws Throwable;
    }

    private static void call(String function, Call call) {
        int status;
        try {
            status = call.run();
        } catch (Throwable failure) {
            throw failed(function, failure);
        }
        check(function, status);
    }

    private static long created(String function, Creation creation) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment made = local.allocate(ADDRESS);
            call(function, () -> creation.into(made));
            return made.get(JAVA_LONG, 0);
        }
    }

    private static MethodHandle make(String function, MemoryLayout... arguments) {
        return OneDnn.function(function, FunctionDescriptor.of(JAVA_INT, arguments));
    }

    private static void check(String function, int status) {
        if (status != DONE) {
            throw new IllegalStateException(
                    "oneDNN's " + function + " failed with status " + status + "; 1 means out of memory");
        }
    }

    private static IllegalStateException failed(String function, Throwable failure) {
        return new IllegalStateException("oneDNN's " + function + " could not be called: " + failure, failure);
    }
}
