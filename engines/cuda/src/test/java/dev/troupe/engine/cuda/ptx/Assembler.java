package dev.troupe.engine.cuda.ptx;

import static dev.troupe.engine.cuda.ptx.Warp.LANES;

import dev.troupe.engine.cuda.ptx.Instruction.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToIntBiFunction;
import java.util.stream.Stream;

/** An assembler of a kernel from its statements. */
final class Assembler {
    private final String kernel;
    private final int[] parameterBytes;
    private final int sharedBytes;
    private final Registers registers = new Registers();
    /** The addresses of parameters and shared variables. */
    private final Map<String, Integer> variables = new HashMap<>();

    Assembler(String kernel, List<String> parameterTypes, List<String> parameters, List<PtxModule.Shared> shared) {
        this.kernel = kernel;
        parameterBytes = new int[parameters.size()];
        int at = 0;
        for (int i = 0; i < parameters.size(); i++) {
            parameterBytes[i] = Integer.parseInt(parameterTypes.get(i).substring(1)) / 8;
            at = (at + parameterBytes[i] - 1) / parameterBytes[i] * parameterBytes[i];
            variables.put(parameters.get(i), at);
            at += parameterBytes[i];
        }
        int end = SharedMemory.FIRST;
        for (PtxModule.Shared variable : shared) {
            end = (end + variable.alignment() - 1) / variable.alignment() * variable.alignment();
            variables.put(variable.name(), end);
            end += variable.bytes();
        }
        sharedBytes = end - SharedMemory.FIRST;
    }

    PtxKernel assemble(List<String> texts) {
        List<Statement> statements = new ArrayList<>();
        Map<String, Integer> labels = new HashMap<>();
        for (String text : texts) {
            if (text.endsWith(":")) {
                labels.put(text.substring(0, text.length() - 1).strip(), statements.size());
            } else if (text.startsWith(".reg")) {
                String[] words = text.split("[\\s,]+");
                for (int i = 2; i < words.length; i++) {
                    registers.declare(words[1].substring(1), words[i]);
                }
            } else if (!text.startsWith(".")) {
                statements.add(Statement.of(text));
            }
        }
        Instruction[] code = statements.stream().map(statement -> instruction(statement, labels))
                .toArray(Instruction[]::new);
        return new PtxKernel(kernel, parameterBytes, sharedBytes, registers, code);
    }

    private Instruction instruction(Statement s, Map<String, Integer> labels) {
        boolean negated = s.guard().startsWith("!");
        int guard = s.guard().isEmpty() ? -1 : registers.predicate(s.guard().substring(negated ? 1 : 0));
        Kind kind = switch (s.base()) {
            case "bra" -> Kind.BRANCH;
            case "ret" -> Kind.EXIT;
            case "bar" -> Kind.BARRIER;
            default -> WarpOps.isTogether(s) ? Kind.TOGETHER : Kind.PLAIN;
        };
        return switch (kind) {
            case BRANCH -> new Instruction(kind, null, guard, negated, labels.get(s.operands().getFirst()), s.text());
            case EXIT, BARRIER -> new Instruction(kind, null, guard, negated, 0, s.text());
            case PLAIN, TOGETHER -> new Instruction(kind, op(s), guard, negated, 0, s.text());
        };
    }

    private Op op(Statement s) {
        try {
            return Stream.<Op>of(moved(s), PredicateOps.of(s, registers), RealOps.of(s, registers),
                    IntegerOps.of(s, registers), WideOps.of(s, registers), MemoryOps.of(s, registers, variables),
                    WarpOps.of(s, registers, variables)).filter(Objects::nonNull).findFirst().orElseThrow(
                            () -> new IllegalArgumentException("the interpreter does not know this instruction"));
        } catch (RuntimeException failure) {
            throw new IllegalArgumentException(kernel + ": " + s.text() + ": " + failure.getMessage(), failure);
        }
    }

    /** A move between registers, from another file, from a constant, or from a special register of a thread. */
    private Op moved(Statement s) {
        if (!s.base().equals("mov") || s.type().equals("pred")) {
            return null;
        }
        if (s.operands().size() > 2) {
            return unpacked(s);
        }
        String to = s.operands().get(0);
        String from = s.operands().get(1);
        switch (from) {
            case "%tid.x" -> {
                return special(to, Warp::thread);
            }
            case "%ctaid.x" -> {
                return special(to, (warp, _) -> warp.block.x());
            }
            case "%ctaid.y" -> {
                return special(to, (warp, _) -> warp.block.y());
            }
            case "%nctaid.x" -> {
                return special(to, (warp, _) -> warp.block.columns());
            }
            default -> {
                return switch (registers.fileOf(to)) {
                    case 'l' -> WideOps.copied(registers.wide(to), variables.containsKey(from)
                            ? registers.wide((long) variables.get(from))
                            : registers.wide(from));
                    case 'f' -> toReal(registers.real(to), from);
                    case 'd' -> precise(registers.precise(to), registers.precise(from));
                    default -> toInteger(registers.integer(to), from);
                };
            }
        }
    }

    /** The halves of a register of 64 bits. */
    private Op unpacked(Statement s) {
        int low = registers.integer(s.operands().get(0));
        int high = registers.integer(s.operands().get(1));
        int from = registers.wide(s.operands().get(2));
        return (warp, lanes) -> {
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    warp.ints[low][lane] = (int) warp.longs[from][lane];
                    warp.ints[high][lane] = (int) (warp.longs[from][lane] >>> 32);
                }
            }
        };
    }

    private Op special(String register, ToIntBiFunction<Warp, Integer> value) {
        int to = registers.integer(register);
        return (warp, lanes) -> {
            int[] result = warp.intsFor(to, lanes);
            Arrays.setAll(result, lane -> value.applyAsInt(warp, lane));
            warp.settleInts(to, lanes);
        };
    }

    private Op toReal(int to, String from) {
        if (registers.fileOf(from) == 'i') {
            int bits = registers.integer(from);
            return (warp, lanes) -> {
                float[] result = warp.floatsFor(to, lanes);
                for (int lane = 0; lane < LANES; lane++) {
                    result[lane] = Float.intBitsToFloat(warp.ints[bits][lane]);
                }
                warp.settleFloats(to, lanes);
            };
        }
        int source = registers.real(from);
        return (warp, lanes) -> {
            System.arraycopy(warp.floats[source], 0, warp.floatsFor(to, lanes), 0, LANES);
            warp.settleFloats(to, lanes);
        };
    }

    private Op toInteger(int to, String from) {
        if (registers.fileOf(from) == 'f') {
            int source = registers.real(from);
            return (warp, lanes) -> {
                int[] result = warp.intsFor(to, lanes);
                for (int lane = 0; lane < LANES; lane++) {
                    result[lane] = Float.floatToRawIntBits(warp.floats[source][lane]);
                }
                warp.settleInts(to, lanes);
            };
        }
        int source = variables.containsKey(from)
                ? registers.integer(Integer.toString(variables.get(from)))
                : registers.integer(from);
        return (warp, lanes) -> {
            System.arraycopy(warp.ints[source], 0, warp.intsFor(to, lanes), 0, LANES);
            warp.settleInts(to, lanes);
        };
    }

    private static Op precise(int to, int from) {
        return (warp, lanes) -> {
            for (int lane = 0; lane < LANES; lane++) {
                if ((lanes >>> lane & 1) != 0) {
                    warp.doubles[to][lane] = warp.doubles[from][lane];
                }
            }
        };
    }
}
