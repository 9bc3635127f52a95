package dev.troupe.peer;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.FileStore;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch_gloo;

/**
 * Trains GPT-2 by libtorch's eager operations as {@code pytorch.py} does, and times its steps. Prints what it multiplies
 * with, a line a step, and the processor time of the steps that count.
 */
public final class Peer {
    private static final int RTLD_NOW_GLOBAL = 0x102;

    private Peer() {
    }

    /**
     * Trains in this process, or starts one for each rank.
     *
     * @param words pairs of an option and its value, as {@link Arguments#parse} reads them; {@code --blas PATH} puts
     *     the BLAS of that library in OpenBLAS's place
     */
    public static void main(String[] words) throws IOException, InterruptedException {
        List<String> options = List.of(words);
        Arguments arguments = Arguments.parse(options);
        int rank = options.indexOf("--rank");
        if (arguments.ranks() == 1 || rank >= 0) {
            int blas = options.indexOf("--blas");
            if (blas >= 0) {
                replaceBlas(options.get(blas + 1));
            }
            train(arguments, rank < 0 ? 0 : Integer.parseInt(options.get(rank + 1)),
                    rank < 0 ? "" : options.get(options.indexOf("--store") + 1));
        } else {
            System.exit(startRanks(arguments, options));
        }
    }

    /** Loads a library for all that are loaded later, before libtorch; calls of BLAS then lead to it. */
    @SuppressWarnings("restricted") // a peer of the benchmarks alone
    private static void replaceBlas(String library) {
        Linker linker = Linker.nativeLinker();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment loaded = (MemorySegment) linker
                    .downcallHandle(linker.defaultLookup().findOrThrow("dlopen"), FunctionDescriptor
                            .of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT))
                    .invokeExact(arena.allocateFrom(library), RTLD_NOW_GLOBAL);
            if (loaded.address() == 0) {
                throw new IllegalArgumentException(
                        library + " must be a shared library with a BLAS, but cannot be loaded");
            }
        } catch (RuntimeException refused) {
            throw refused;
        } catch (Throwable failure) {
            throw new IllegalStateException("dlopen failed", failure);
        }
    }

    private static int startRanks(Arguments arguments, List<String> options) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("peer");
        List<Process> ranks = new ArrayList<>();
        try {
            for (int rank = 0; rank < arguments.ranks(); rank++) {
                List<String> command = new ArrayList<>();
                command.add(ProcessHandle.current().info().command().orElseThrow());
                command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
                command.addAll(List.of("-cp", System.getProperty("java.class.path"), Peer.class.getName()));
                command.addAll(options);
                command.addAll(
                        List.of("--rank", Integer.toString(rank), "--store", folder.resolve("store").toString()));
                ranks.add(new ProcessBuilder(command).inheritIO().start());
            }
            int status = 0;
            for (Process rank : ranks) {
                status = Math.max(status, rank.waitFor());
            }
            return status;
        } finally {
            ranks.forEach(Process::destroy);
            for (String file : List.of("store", "store-of-ends")) {
                Files.deleteIfExists(folder.resolve(file));
            }
            Files.delete(folder);
        }
    }

    private static void train(Arguments arguments, int rank, String store) throws IOException {
        torch.set_num_threads(arguments.threads());
        PublishedWeights weights = PublishedWeights.open(arguments.weights());
        Trainer trainer;
        if (arguments.ranks() == 1) {
            trainer = new OneProcess(arguments, weights);
        } else {
            Loader.load(torch_gloo.class);
            trainer = new PipelineRank(arguments, rank, weights, new FileStore(store, arguments.ranks()),
                    new FileStore(store + "-of-ends", 2));
        }
        Update update;
        try (NoGradGuard _ = new NoGradGuard()) {
            update = new Update(trainer.parameters(), trainer.secondCopy());
        }
        if (rank == 0) {
            say("library %s", Products.describe());
        }
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long begin = 0;
        for (int step = 0; step < arguments.warmup() + arguments.steps(); step++) {
            if (step == arguments.warmup()) {
                begin = system.getProcessCpuTime();
            }
            step(arguments, trainer, update, step);
        }
        say("processor seconds %.6f", (system.getProcessCpuTime() - begin) * 1e-9);
    }

    private static void step(Arguments arguments, Trainer trainer, Update update, int step) throws IOException {
        try (PointerScope _ = new PointerScope()) {
            Batch batch = Batch.of(arguments, step);
            long begin = System.nanoTime();
            // Around a whole step, so that the bfloat16 copy of a weight is made once and not for each microbatch.
            torch.set_autocast_dtype(torch.DeviceType.CPU, torch.ScalarType.BFloat16);
            torch.set_autocast_enabled(torch.DeviceType.CPU, arguments.inBfloat16());
            double loss = trainer.accumulate(batch.inputs(), batch.targets());
            torch.set_autocast_enabled(torch.DeviceType.CPU, false);
            torch.clear_cache();
            try (NoGradGuard _ = new NoGradGuard()) {
                update.apply(trainer::globalNorm);
            }
            double seconds = (System.nanoTime() - begin) * 1e-9;
            if (!Double.isNaN(loss)) {
                say("step %d seconds %.6f loss %.6f", step, seconds, loss);
            }
        }
    }

    /** In one write, since ranks share the output and a line of one must not end inside another's. */
    private static void say(String pattern, Object... values) {
        System.out.println(String.format(Locale.ROOT, pattern, values));
    }

    /** Token ids of a step in the sequential order of Troupe. */
    private record Batch(List<Tensor> inputs, List<Tensor> targets) {
        static Batch of(Arguments arguments, int step) throws IOException {
            int tokens = arguments.microbatchSize() * arguments.sequence();
            int all = arguments.microbatches() * tokens;
            byte[] text;
            try (var file = Files.newInputStream(arguments.tokens())) {
                file.skipNBytes((long) step * all);
                text = file.readNBytes(all + 1);
            }
            if (text.length <= all) {
                throw new IllegalArgumentException(arguments.tokens() + " is too short for step " + step
                        + ": it must have " + all + " bytes a step, and one");
            }
            List<Tensor> inputs = new ArrayList<>();
            List<Tensor> targets = new ArrayList<>();
            for (int i = 0; i < arguments.microbatches(); i++) {
                inputs.add(ids(text, i * tokens, tokens).view(arguments.microbatchSize(), arguments.sequence()));
                targets.add(ids(text, i * tokens + 1, tokens));
            }
            return new Batch(inputs, targets);
        }

        private static Tensor ids(byte[] text, int begin, int count) {
            long[] ids = new long[count];
            for (int i = 0; i < count; i++) {
                ids[i] = Byte.toUnsignedLong(text[begin + i]);
            }
            return torch.tensor(ids);
        }
    }
}
