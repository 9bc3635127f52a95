package dev.troupe.cli.bits;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.cli.Execution;
import dev.troupe.cli.Golden;
import dev.troupe.cli.PlantingEngineProvider;
import dev.troupe.cli.stop.ExitCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("real")
@Timeout(300)
class NotFiniteTest {
    @TempDir
    private Path directory;

    /** The blocks of the golden model; each is two layers after the embedding, and two blocks are on a stage. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldNameTheLayerThatMadeTheFirstNumberThatIsNotFinite(int block) throws IOException {
        requireNamed(new Planted("h." + block + ".mlp.c_proj.bias", 0, 2 * block + 2), 2, " (h." + block
                + ".mlp) on stage " + block / 2
                + ", microbatch 0 of the step, with sequences at 0, 16 of the data");
    }

    @Tag("long")
    @Test
    void shouldNameTheLayerOfEachOfAHundredNaNs() {
        List<Executable> trials = new ArrayList<>();
        for (int seed = 0; seed < 100; seed++) {
            Random random = new Random(seed);
            Planted planted = draw(random);
            int stages = 1 << random.nextInt(3);
            trials.add(() -> requireNamed(planted, stages, " ("));
        }
        assertAll(trials);
    }

    /** A NaN in a loaded parameter, and the layer of its first output; a block has its output after its second half. */
    private record Planted(String tensor, int element, int layer) {
    }

    private static Planted draw(Random random) {
        int block = random.nextInt(6) - 1;
        int element = random.nextInt(32); // no tensor has fewer
        if (block < 0) {
            return new Planted("wpe.weight", element, 0);
        }
        if (block == 4) {
            return new Planted("ln_f.bias", element, 9);
        }
        List<String> tensors = List.of("ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias",
                "attn.c_proj.weight", "attn.c_proj.bias", "ln_2.weight", "ln_2.bias", "mlp.c_fc.weight",
                "mlp.c_fc.bias", "mlp.c_proj.weight", "mlp.c_proj.bias");
        return new Planted("h." + block + "." + tensors.get(random.nextInt(tensors.size())), element, 2 * block + 2);
    }

    private void requireNamed(Planted planted, int stages, String further) throws IOException {
        Golden golden = Golden.named(Golden.TIED);
        Path model = Files.createTempDirectory(directory, "model");
        try (var files = Files.list(Path.of(setting(golden, "model.from=")))) {
            for (Path file : files.toList()) {
                Files.copy(file, model.resolve(file.getFileName()));
            }
        }
        plant(model.resolve("model.safetensors"), planted);
        List<String> settings = new ArrayList<>(
                golden.settings("engine.kind=" + PlantingEngineProvider.KIND, "parallel.pipeline=" + stages,
                        "training.microbatch-size=2", "training.steps=1"));
        settings.replaceAll(setting -> setting.startsWith("model.from=") ? "model.from=" + model : setting);
        Execution run = Execution.train(model.resolve("run"), settings);
        assertEquals(ExitCode.RUN_FAILED, run.exitCode(), run.errors());
        assertTrue(run.errors().contains("the first number that is not finite is in step 0 in F of layer "
                + planted.layer() + further), () -> planted + ": " + run.errors());
    }

    private static String setting(Golden golden, String key) {
        return golden.settings().stream().filter(setting -> setting.startsWith(key)).findFirst().orElseThrow()
                .substring(key.length());
    }

    private static void plant(Path weights, Planted planted) throws IOException {
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(weights)).order(ByteOrder.LITTLE_ENDIAN);
        int header = Math.toIntExact(file.getLong(0));
        JsonNode tensors = new ObjectMapper().readTree(file.array(), Long.BYTES, header);
        String name = List.copyOf(tensors.properties()).stream().map(Map.Entry::getKey)
                .filter(key -> key.endsWith(planted.tensor())).findFirst().orElseThrow();
        int begin = Long.BYTES + header + tensors.path(name).path("data_offsets").path(0).intValue();
        file.putFloat(begin + Float.BYTES * planted.element(), PlantingEngineProvider.MARKER);
        Files.write(weights, file.array());
    }
}
