package dev.troupe.cli.bits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.cli.Execution;
import dev.troupe.cli.Golden;
import dev.troupe.cli.stop.ExitCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("real")
@Timeout(300)
class NotFiniteTest {
    @TempDir
    private Path directory;

    /** The blocks of the golden model; each is two layers behind the embedding, and two blocks are on a stage. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void shouldNameTheLayerThatMadeTheFirstNumberThatIsNotFinite(int block) throws IOException {
        Golden golden = Golden.named(Golden.TIED);
        Path model = directory.resolve("model");
        Files.createDirectory(model);
        try (var files = Files.list(Path.of(setting(golden, "model.from=")))) {
            for (Path file : files.toList()) {
                Files.copy(file, model.resolve(file.getFileName()));
            }
        }
        plant(model.resolve("model.safetensors"), "h." + block + ".mlp.c_proj.bias");
        List<String> settings = new ArrayList<>(golden.settings("engine.kind=reference", "parallel.pipeline=2",
                "training.microbatch-size=2", "training.steps=1"));
        settings.replaceAll(setting -> setting.startsWith("model.from=") ? "model.from=" + model : setting);
        Execution run = Execution.train(directory.resolve("run"), settings);
        assertEquals(ExitCode.RUN_FAILED, run.exitCode(), run.errors());
        assertTrue(run.errors().contains("the first number that is not finite is in step 0 in F of layer "
                + (2 * block + 2) + " (h." + block + ".mlp) on stage " + block / 2
                + ", microbatch 0 of the step, whose sequences are at 0, 16 of the data"), run.errors());
    }

    private static String setting(Golden golden, String key) {
        return golden.settings().stream().filter(setting -> setting.startsWith(key)).findFirst().orElseThrow()
                .substring(key.length());
    }

    private static void plant(Path weights, String end) throws IOException {
        ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(weights)).order(ByteOrder.LITTLE_ENDIAN);
        int header = Math.toIntExact(file.getLong(0));
        JsonNode tensors = new ObjectMapper().readTree(file.array(), Long.BYTES, header);
        String name = List.copyOf(tensors.properties()).stream().map(Map.Entry::getKey)
                .filter(key -> key.endsWith(end)).findFirst().orElseThrow();
        file.putFloat(Long.BYTES + header + tensors.path(name).path("data_offsets").path(0).intValue(), Float.NaN);
        Files.write(weights, file.array());
    }
}
