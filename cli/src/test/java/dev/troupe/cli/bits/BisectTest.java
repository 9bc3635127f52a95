package dev.troupe.cli.bits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import dev.troupe.cli.Execution;
import dev.troupe.cli.Golden;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("real")
@Dealt(2)
@Timeout(300)
class BisectTest {
    private static final String INVARIANT = "parallel.invariant=[data]";

    @TempDir
    private Path directory;

    private Path train(String name, String... settings) {
        List<String> all = new ArrayList<>(Golden.named(Golden.TIED).settings("engine.kind=reference",
                "training.microbatch-size=2"));
        all.addAll(List.of(settings));
        Path run = directory.resolve(name);
        Execution.train(run, all).requireDone();
        return run;
    }

    private static JsonNode bisect(int exitCode, Path one, Path other) throws IOException {
        Execution execution = Execution.command("bisect", "--json", one.toString(), other.toString());
        assertEquals(exitCode, execution.exitCode(), execution.output() + execution.errors());
        JsonNode answer = new ObjectMapper().readTree(execution.output());
        assertEquals(Set.of(), JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012)
                .getSchema(Files.readString(Path.of("../docs/schema/bisect.json"))).validate(answer));
        return answer;
    }

    /** One rank, a pipeline with two stages a rank, and one that cuts a block in halves. */
    @Test
    void shouldFindRunsOnOtherGridsEqual() throws IOException {
        Path one = train("one", "parallel.pipeline=1");
        Path zigzag = train("zigzag", "parallel.pipeline=2", "parallel.schedule=zbv", "parallel.virtual-stages=2");
        JsonNode equal = bisect(ExitCode.DONE, one, zigzag);
        assertTrue(equal.path("outputs").intValue() > 60, equal.toString());
        Path cut = train("cut", "parallel.pipeline=2", "parallel.layout=Etta|mtL");
        assertTrue(bisect(ExitCode.DONE, zigzag, cut).path("outputs").intValue() > 60);
        Path planned = train("planned", "parallel.pipeline=1", "parallel.sharding=batch -> data");
        bisect(ExitCode.DONE, one, planned);
        Execution text = Execution.command("bisect", one.toString(), one.toString());
        assertTrue(text.output().startsWith("Equal: "), text.output());
    }

    @Test
    void shouldNameTheFirstTensorThatParts() throws IOException {
        Path run = train("run");
        Path other = train("other", "training.optimizer.weight-decay=0.5");
        JsonNode parting = bisect(ExitCode.RUN_FAILED, run, other).path("parting");
        assertEquals("0 UPDATE 0", parting.path("step").asText() + " " + parting.path("action").asText() + " "
                + parting.path("layer").asText());
        Execution text = Execution.command("bisect", run.toString(), other.toString());
        assertTrue(text.output().startsWith("The runs part in step 0: UPDATE of "), text.output());
    }

    /** The digest of a weight's gradient is of one rank's part, though such runs have equal weights. */
    @Test
    void shouldRefuseRunsWithOtherPartsOfGradients() throws IOException {
        Path one = train("one", INVARIANT);
        Path two = train("two", INVARIANT, "parallel.data=2");
        requireRefused("parallel.data is 1 in", one, two);
        Path whole = train("whole", INVARIANT, "parallel.data=2", "training.zero=1");
        bisect(ExitCode.DONE, two, whole);
        Path divided = train("divided", INVARIANT, "parallel.data=2", "training.zero=2");
        requireRefused("training.zero is 0 or 1 in", two, divided);
        Path shares = train("shares", INVARIANT, "parallel.data=2", "training.zero=3");
        requireRefused("training.zero is 2 in", divided, shares);
        bisect(ExitCode.DONE, one, train("alone", INVARIANT, "training.zero=3"));
    }

    private static void requireRefused(String part, Path one, Path other) {
        Execution execution = Execution.command("bisect", one.toString(), other.toString());
        assertEquals(ExitCode.WRONG_REQUEST, execution.exitCode(), execution.output() + execution.errors());
        assertTrue(execution.errors().contains(part), execution.errors());
    }

    private static void forget(String fact, Path run) throws IOException {
        Path digests = run.resolve("digests.bin");
        String bytes = Files.readString(digests, StandardCharsets.ISO_8859_1);
        assertTrue(bytes.contains(fact), bytes);
        Files.writeString(digests, bytes.replace(fact, " ".repeat(fact.length())), StandardCharsets.ISO_8859_1);
    }

    /** Libraries of products are recorded since they can be chosen. */
    @ParameterizedTest
    @CsvSource({"reference, ''", "cpu, onednn"})
    void shouldCompareWithARunThatDoesNotNameItsProducts(String engine, String products) throws IOException {
        String[] settings = {"training.steps=1", "engine.kind=" + engine, "engine.products=onednn"};
        Path run = train("run", settings);
        Path older = train("older", settings);
        forget(",\"engine.products\":\"" + products + "\"", older);
        forget(",\"training.replicas\":\"none\"", older);
        forget(",\"training.zero\":\"0 or 1\"", older);
        bisect(ExitCode.DONE, older, run);
        bisect(ExitCode.DONE, run, older);
        forget(",\"training.precision\":\"float32\"", older);
        requireRefused("training.precision is not recorded in", older, run);
        requireRefused("training.precision is float32 in", run, older);
    }

    @Test
    void shouldRefuseRunsThatCannotHaveTheSameBits() throws IOException {
        Path run = train("run", "training.steps=1");
        Path seed = train("seed", "training.steps=1", "training.seed=99");
        Execution refused = Execution.command("bisect", run.toString(), seed.toString());
        assertEquals(ExitCode.WRONG_REQUEST, refused.exitCode());
        Files.delete(seed.resolve("digests.bin"));
        assertEquals(ExitCode.WRONG_REQUEST,
                Execution.command("bisect", run.toString(), seed.toString()).exitCode());
        Files.write(seed.resolve("digests.bin"), new byte[100]);
        assertEquals(ExitCode.WRONG_REQUEST,
                Execution.command("bisect", run.toString(), seed.toString()).exitCode());
    }
}
