package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.Problem;
import dev.troupe.config.value.Sources;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class ConfigRefusalTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '`', value = {
            "training.steps=ten ! training.steps (-s): expected a whole number from 1 to 2147483647, found \"ten\".",
            "training.steps=0 ! training.steps (-s): expected a whole number from 1 to 2147483647, found 0.",
            "training.steps=1.5 ! training.steps (-s): expected a whole number from 1 to 2147483647, found 1.5.",
            "training.steps=2147483648 ! training.steps (-s): expected a whole number from 1 to 2147483647, "
                    + "found 2147483648.",
            "model.hidden=3000000000 ! model.hidden (-s): expected a whole number from 1 to 2147483647, "
                    + "found 3000000000.",
            "model.layers=65535 ! model.layers (-s): expected a whole number from 1 to 65534, found 65535.",
            "training.seed=9223372036854775808 ! training.seed (-s): expected a whole number of at most 64 bits, "
                    + "found 9223372036854775808.",
            "training.learning-rate.peak=NaN ! training.learning-rate.peak (-s): expected a finite number of at least 0, "
                    + "found \"NaN\".",
            "training.learning-rate.peak=1e400 ! training.learning-rate.peak (-s): expected a finite number of at "
                    + "least 0, found 1e400.",
            "training.optimizer.epsilon=0 ! training.optimizer.epsilon (-s): expected a finite number above 0, found 0.",
            "training.optimizer.momentum=1 ! training.optimizer.momentum (-s): expected a finite number of at least 0 and "
                    + "below 1, found 1.",
            "training.optimizer.momentum=0.9 ! training.optimizer.momentum (-s): expected 0 with training.optimizer.kind "
                    + "= adamw, found 0.9; leave it out, or set training.optimizer.kind to sgd or muon.",
            "training.optimizer.nesterov=true ! training.optimizer.nesterov (-s): expected false with "
                    + "training.optimizer.momentum = 0, found true; it looks one step of the velocity ahead, so set "
                    + "training.optimizer.momentum too, such as to 0.9.",
            "training.gradient-clip=-1 ! training.gradient-clip (-s): expected a finite number of at least 0, found -1.",
            "data.validation-fraction=1 ! data.validation-fraction (-s): expected a finite number of at least 0 and "
                    + "below 1, found 1.",
            "training.optimizer.betas=0.9 ! training.optimizer.betas (-s): expected two numbers, each of at least 0 and "
                    + "below 1, such as [0.9, 0.95], found 0.9.",
            "training.optimizer.betas=[0.9, 1] ! training.optimizer.betas (-s): expected two numbers, each of at least "
                    + "0 and below 1, such as [0.9, 0.95], found [0.9,1].",
            "training.optimizer.betas=[0.9, 0.5, 0.5] ! training.optimizer.betas (-s): expected two numbers, each of at "
                    + "least 0 and below 1, such as [0.9, 0.95], found [0.9,0.5,0.5].",
            "training.optimizer.betas=[0.9 ! training.optimizer.betas (-s): expected a value, found an error: List "
                    + "should have ended with ] or had a comma, instead had token: end of file.",
            "model.tie-embeddings=maybe ! model.tie-embeddings (-s): expected true or false, found \"maybe\".",
            "data.tokenizer=Bytes ! data.tokenizer (-s): expected bytes, gpt2 or a directory with a tokenizer.json, "
                    + "found \"Bytes\"; did you mean bytes?",
            "data.token-bytes=3 ! data.token-bytes (-s): expected 0, 2 or 4, found 3; 0 "
                    + "takes the size from the header of a .bin file.",
            "training.precision=half ! training.precision (-s): expected float32 or bfloat16 or float64, found \"half\"; "
                    + "bfloat16 is for activations and products with float32 weights, float64 for the engines nd4j and reference.",
            "training.loss-scale=0 ! training.loss-scale (-s): expected none, dynamic or a number above 0, found 0.",
            "training.recompute-ahead=some ! training.recompute-ahead (-s): expected none, all, a number of blocks, or memory"
                    + " such as 512MiB, found \"some\".",
            "training.recompute-ahead=all ! training.recompute-ahead (-s): expected none with training.recompute = none, found"
                    + " all; set training.recompute to full, or take this key away.",
            "training.recompute-every=2 ! training.recompute-every (-s): expected 1 with training.recompute = none, found 2;"
                    + " set training.recompute to full, or take this key away.",
            "offload.activations=disk ! offload.activations (-s): expected none with training.recompute = none, found disk; set"
                    + " training.recompute to full, or take this key away.",
            "training.recompute-partition=true ! training.recompute-partition (-s): expected false with training.recompute ="
                    + " none, found true; set training.recompute to full, or take this key away.",
            "faults=drop at=F ! faults (-s): expected at=send for drop, found \"at=F\" in \"drop at=F\".",
            "faults=[drop, \"drop at=F\"] ! faults[1] (-s): expected at=send for drop, found \"at=F\" in \"drop at=F\".",
            "faults=[[]] ! faults[0] (-s): expected a list of faults, such as [\"exception stage=2 step=5\"], found [].",
            "parallel.data=0 ! parallel.data (-s): expected a whole number from 1 to 4096, found 0.",
            "parallel.tensor=8 ! model.heads (the default): expected a multiple of parallel.tensor = 8, found 4; change "
                    + "one of them.",
            "parallel.data=3 ! training.global-batch-size (the default): expected a multiple of parallel.data x "
                    + "training.microbatch-size = 3 x 2 = 6, found 16; the nearest that fit are 12 and 18.",
            "parallel.sequence=true ! parallel.sequence (-s): expected false with parallel.tensor = 1, found true; "
                    + "slices of the sequence are shared out among the ranks of a tensor group, so set parallel.tensor "
                    + "too.",
            "training.gradient-exchange=bfloat16 ! training.gradient-exchange (-s): expected float32 with parallel.data = 1, found bfloat16; "
                    + "no gradients travel, so set parallel.data too.",
            "training.gradient-exchange=half ! training.gradient-exchange (-s): expected float32 or bfloat16, found \"half\".",
            "parallel.invariant=[tensor] ! parallel.invariant[0] (-s): expected a list of axes: [], [data] or [data, expert],"
                    + " found \"tensor\"; leave it out: the ranks of a tensor-parallel group cut products by their number, so"
                    + " parallel.tensor still changes bits.",
            "parallel.invariant=[expert] ! parallel.invariant (-s): expected data in the list with expert, since the ranks"
                    + " that divide experts are data-parallel ones, found [expert]; write [data, expert].",
            "training.zero=4 ! training.zero (-s): expected a whole number from 0 to 3, found 4.",
            "parallel.schedule= ! parallel.schedule (-s): expected the name of a schedule, such as 1f1b, found \"\".",
            "transport.timeout=60 ! transport.timeout (-s): expected a duration with its unit from 100ms to 24h, such "
                    + "as 60s, found 60.",
            "transport.timeout=2d ! transport.timeout (-s): expected a duration with its unit from 100ms to 24h, such "
                    + "as 60s, found \"2d\".",
            "transport.term-length=3MiB ! transport.term-length (-s): expected a size that is a power of two from 1MiB "
                    + "to 1GiB, such as 8MiB, or 0, found \"3MiB\".",
            "name=../up ! name (-s): expected at most 64 letters, digits, '.', '_' and '-', the first a letter or digit, "
                    + "found \"../up\".",
            "training.global-batch-size=15 ! training.global-batch-size (-s): expected a multiple of parallel.data x "
                    + "training.microbatch-size = 1 x 2 = 2, found 15; the nearest that fit are 14 and 16.",
            "training.microbatch-size=32 ! training.global-batch-size (the default): expected a multiple of "
                    + "parallel.data x training.microbatch-size = 1 x 32 = 32, found 16; the nearest that fit are "
                    + "32 and 64.",
            "model.heads=3 ! model.heads (-s): expected a number that divides model.hidden = 128, found a remainder of 2 "
                    + "with 3 heads; change one of them.",
            "model.vocabulary-size=255 ! model.vocabulary-size (-s): expected at least the 256 tokens of "
                    + "data.tokenizer = bytes, found 255; set it to 0 to take the tokenizer's.",
            "data.path=tokens.bin ! model.vocabulary-size (the default): expected the number of token ids, which "
                    + "a .bin file does not contain, found 0; set it, or model.from.",
            "training.steps ! -s: expected key=value, found \"training.steps\" without '='; write "
                    + "-s training.steps=VALUE.",
            "=3 ! -s: expected key=value, found \"=3\" without a key; write it as -s training.steps=1000.",
            "engine.emulated.forward=[1ms, 2] ! engine.emulated.forward (-s): expected a duration with its unit from 0ms to "
                    + "1h, or a list of them, such as 2ms or [2ms, 3ms], found [\"1ms\",2].",
            "engine=nd4j ! engine (-s): expected a key, found a section; it has device, emulated, "
                    + "exact-rows, float32-products, kind, products, threads.",
            "troupe.data.seed=3 ! troupe.data.seed (-s): expected a key without troupe., found troupe.data.seed; did you "
                    + "mean data.seed?",
            "seed=3 ! seed (-s): expected a key that exists, found an unknown one; did you mean data.seed or "
                    + "training.seed?",
            "batch-size=3 ! batch-size (-s): expected a key that exists, found an unknown one; did you mean "
                    + "training.global-batch-size or training.microbatch-size?",
            "training.globalBatchSize=3 ! training.globalBatchSize (-s): expected a key that exists, found an unknown "
                    + "one; did you mean training.global-batch-size?",
            "engine.quux=3 ! engine.quux (-s): expected a key that exists, found an unknown one; engine has device, emulated, "
                    + "exact-rows, float32-products, kind, products, threads."})
    void shouldRefuseASetting(String setting, String sentence) {
        assertEquals(sentence, refusal(Optional.empty(), List.of(setting)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '`', value = {
            "training.steps = 3 ! training (FILE:1): expected everything under troupe, found training at the top of the "
                    + "file; write troupe.training, or put it into troupe { ... }.",
            "troup.training.steps = 3 ! troup (FILE:1): expected nothing but troupe at the top of the file, found troup; "
                    + "did you mean troupe?",
            "akka.loglevel = INFO ! akka (FILE:1): expected nothing but troupe at the top of the file, found akka; put "
                    + "what is for this run into troupe { ... } and take the rest out.",
            "troupe.trainin { steps = 3 } ! trainin (FILE:1): expected a key that exists, found an unknown one; did you "
                    + "mean training?",
            "troupe { \"data.seed\" = 3 } ! \"data.seed\" (FILE:1): expected a key that exists, found an unknown one; "
                    + "did you mean data.seed?",
            "troupe = 5 ! troupe (FILE:1): expected a section { ... }, found 5; it has cluster, data, engine, faults, model, name, "
                    + "observe, offload, parallel, recovery, training, transport.",
            "troupe.engine = fast ! engine (FILE:1): expected a section { ... }, found \"fast\"; it has device, emulated, "
                    + "exact-rows, float32-products, kind, products, threads.",
            "troupe.data.seed { a = 1 } ! data.seed (FILE:1): expected a whole number of at most 64 bits, found a "
                    + "section.",
            "troupe.data.seed = [1] ! data.seed (FILE:1): expected a whole number of at most 64 bits, found [1].",
            "troupe.data.seed = null ! data.seed (FILE:1): expected a whole number of at most 64 bits, found null.",
            "troupe.name = ${nowhere} ! FILE:1: expected substitutions that lead to a value, found ${nowhere}; define "
                    + "it; environment variables are not read.",
            "troupe.name = ${PATH} ! FILE:1: expected substitutions that lead to a value, found ${PATH}; define it; "
                    + "environment variables are not read.",
            "troupe.name = ${java.io.tmpdir} ! FILE:1: expected substitutions that lead to a value, found "
                    + "${java.io.tmpdir}; define it; environment variables are not read.",
            "troupe { ! FILE:1: expected well-formed HOCON with a '}' for each '{', found none for the '{' of this "
                    + "line; close it.",
            "include \"none.conf\" ! FOLDER/none.conf: expected a configuration file, found none; check the path.",
            "include file(\"none.conf\") ! FOLDER/none.conf: expected a configuration file, found none; check the path.",
            "include \"\\u0000\" ! FILE: expected an include of a file, found Nul character not allowed; check its name.",
            "include url(\"http://localhost/a\") ! FILE: expected an include of a file, found one of http://localhost/a; "
                    + "save it next to this file.",
            "include classpath(\"a\") ! FILE: expected an include of a file, found one of the resource a; save "
                    + "it next to this file.",
            "include \"run.conf\" ! FILE: expected files that do not include each other without end, found an include "
                    + "of run.conf; take it out."})
    void shouldRefuseAFile(String text, String sentence) throws IOException {
        Path file = write(text);
        String expected = sentence.replace("FILE", file.toString()).replace("FOLDER", folder.toString());
        assertEquals(expected, refusal(Optional.of(file), List.of()));
    }

    @Test
    void shouldNameTheLineOfAMalformedFile() throws IOException {
        Path file = write("troupe {\n  training {\n    steps =\n  }\n}\n");
        assertEquals(
                file + ":4: expected well-formed HOCON, found an error: Expecting a value but got wrong token: '}'.",
                refusal(Optional.of(file), List.of()));
    }

    @Test
    void shouldRefuseOtherThanConfigurationFiles() throws IOException {
        Path missing = folder.resolve("missing.conf");
        assertEquals(missing + ": expected a configuration file, found none; check the path.",
                refusal(Optional.of(missing), List.of()));
        assertEquals(folder + ": expected a configuration file, found a directory; name a file in it.",
                refusal(Optional.of(folder), List.of()));
        Path latin = Files.write(folder.resolve("latin.conf"),
                "troupe.name = \u00e9".getBytes(StandardCharsets.ISO_8859_1));
        assertEquals(latin + ": expected UTF-8 text, found bytes that are none; save the file as UTF-8.",
                refusal(Optional.of(latin), List.of()));
        Path large = Files.write(folder.resolve("large.conf"), new byte[(1 << 20) + 1]);
        assertEquals(
                large + ": expected a configuration file of at most 1 MiB, found 1048577 bytes; name a text file in "
                        + "HOCON; data are named by data.path.",
                refusal(Optional.of(large), List.of()));
        Path deep = write("a = " + "[".repeat(500_000));
        assertEquals(deep + ": expected sections of a sensible depth, found more of them inside each other than can be "
                + "read; take some away.", refusal(Optional.of(deep), List.of()));
    }

    @Test
    void shouldRefuseFloat64IfTheEngineHasNone() {
        assertEquals(
                "training.precision (-s): expected float32 with engine.kind = cpu, found float64; set engine.kind to "
                        + "nd4j or reference, which compute in float64, or the precision to float32.",
                refusal(Optional.empty(), List.of("training.precision=float64", "engine.kind=cpu")));
        assertEquals(
                "training.gradient-exchange (-s): expected float32 with training.precision = float64, found bfloat16; they "
                        + "travel whole.",
                refusal(Optional.empty(), List.of("training.precision=float64", "engine.kind=reference",
                        "parallel.data=2", "training.gradient-exchange=bfloat16")));
    }

    @Test
    void shouldRefuseNumbersThatATensorGroupCannotDivide() {
        assertEquals("""
                model.heads (-s): expected a multiple of parallel.tensor = 3, found 5; change one of them.
                model.hidden (-s): expected a multiple of parallel.tensor = 3, found 100; change one of them.""",
                refusal(Optional.empty(), List.of("parallel.tensor=3", "model.heads=5", "model.hidden=100")));
        assertEquals("model.sequence-length (-s): expected a multiple of parallel.tensor = 4, found 130; change one of "
                + "them.",
                refusal(Optional.empty(),
                        List.of("parallel.tensor=4", "parallel.sequence=true", "model.sequence-length=130")));
        assertEquals("model.heads (-s): expected a multiple of parallel.tensor = 2, found 3; change one of them.",
                refusal(Optional.empty(), List.of("model.from=dir", "parallel.tensor=2", "model.heads=3")));
    }

    @Test
    void shouldRefuseMoreRanksThanTheTransportNumbers() {
        assertEquals("parallel.pipeline (-s): expected at most 65536 ranks in all, pipeline x data x tensor, found "
                + "4096 x 16 x 4 = 262144; take fewer.",
                refusal(Optional.empty(),
                        List.of("parallel.pipeline=4096", "parallel.data=16", "parallel.tensor=4",
                                "training.global-batch-size=32")));
    }

    @Test
    void shouldReportEveryProblemAtOnce() throws IOException {
        Path file = write("""
                troupe {
                  trainin { steps = 5 }
                  training { steps = many, global-batch-size = 7 }
                  model { heads = 3 }
                }
                data.seed = 1
                """);
        ConfigException refusal = assertThrows(ConfigException.class,
                () -> RunSpecReader.read(Optional.of(file),
                        List.of("nonsense", "data.ordr=random", "engine.threads=-1")));
        assertEquals(List.of("", "data.ordr", "data", "trainin", "model.heads", "engine.threads", "training.steps",
                "training.global-batch-size"), refusal.problems().stream().map(Problem::key).toList());
        assertEquals(8, refusal.getMessage().lines().count());
        assertEquals(file + ":3", refusal.problems().get(6).origin());
    }

    @Test
    void shouldReportSettingsTogetherWithAnUnreadableFile() {
        ConfigException refusal = assertThrows(ConfigException.class,
                () -> RunSpecReader.read(Optional.of(folder), List.of("training.stps=1")));
        assertEquals(List.of("-s", folder.toString()), refusal.problems().stream().map(Problem::origin).toList());
    }

    @Test
    void shouldNotBlameABatchForAWrongMicrobatch() {
        assertEquals("training.microbatch-size (-s): expected a whole number from 1 to 2147483647, found \"x\".",
                refusal(Optional.empty(), List.of("training.microbatch-size=x", "training.global-batch-size=15")));
    }

    @Test
    void shouldSuggestEveryKeyThatLacksALetter() {
        List<String> keys = Sources.read(Optional.empty(), List.of(), new ArrayList<>()).keys().all().stream().sorted()
                .toList();
        assertTrue(keys.size() > 60, keys::toString);
        List<String> settings = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        for (String key : keys) {
            for (int i = 0; i < key.length(); i++) {
                String misspelt = key.substring(0, i) + key.substring(i + 1);
                if (key.charAt(i) != '-') {
                    settings.add(misspelt + "=1");
                    expected.add(misspelt + " (-s): expected a key that exists, found an unknown one; did you mean "
                            + key + "?");
                }
            }
        }
        List<Problem> problems = new ArrayList<>();
        Sources.read(Optional.empty(), settings, problems);
        assertEquals(expected, problems.stream().map(Problem::sentence).toList());
    }

    @Test
    void shouldRefuseACosineThatEndsAboveItsPeak() {
        assertEquals("training.learning-rate.minimum (the default): expected at most the peak, which is 1.0E-5, found "
                + "1.0E-4; set it below the peak, or the schedule to constant.",
                refusal(Optional.empty(),
                        List.of("training.learning-rate.schedule=cosine", "training.learning-rate.peak=1e-5")));
    }

    @Test
    void shouldRefuseADecayThatEndsInsideTheWarmUp() {
        assertEquals(
                "training.learning-rate.decay-steps (-s): expected at least the 20 warm-up steps, which it includes, "
                        + "found 5; set it to 0 to decay until the last step.",
                refusal(Optional.empty(), List.of("training.learning-rate.schedule=cosine",
                        "training.learning-rate.warmup-steps=20", "training.learning-rate.decay-steps=5")));
    }

    @Test
    void shouldRefuseTwoWaysToValidate() {
        assertEquals("data.validation-fraction (-s): expected 0"
                + " together with data.validation-path, which names the validation data, found 0.1; take one of them away.",
                refusal(Optional.empty(), List.of("data.validation-path=v.txt", "data.validation-fraction=0.1")));
    }

    @Test
    void shouldRefuseAListThatNamesNoPath() {
        for (String list : List.of("[]", "[a, built-in]", "[[a]]")) {
            assertTrue(refusal(Optional.empty(), List.of("data.path=" + list))
                    .startsWith("data.path (-s): expected a path, or a list of one or more, found ["));
        }
    }

    @Test
    void shouldRefuseAStablePartThatEndsOutsideTheDecay() {
        List<String> wsd = List.of("training.learning-rate.schedule=wsd", "training.learning-rate.warmup-steps=20",
                "training.learning-rate.decay-steps=200");
        for (String[] wrong : new String[][]{
                {"19", "at least the 20 warm-up steps, which it includes, found 19; "},
                {"201", "at most the 200 steps of training.learning-rate.decay-steps, at which the decay ends, found 201; "}}) {
            List<String> settings = new ArrayList<>(wsd);
            settings.add("training.learning-rate.stable-steps=" + wrong[0]);
            assertEquals(
                    "training.learning-rate.stable-steps (-s): expected " + wrong[1]
                            + "set it to 0 to decay in the last tenth.",
                    refusal(Optional.empty(), settings));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"troupe.model.layers", "troupe.training.learning-rate.peak"})
    void shouldSuggestEveryKeyOfAFileThatLacksALetter(String key) throws IOException {
        int lastDot = key.lastIndexOf('.');
        for (int i = lastDot + 1; i < key.length(); i++) {
            Path file = write(key.substring(0, i) + key.substring(i + 1) + " = 1");
            String wanted = "did you mean " + key.substring("troupe.".length()) + "?";
            assertTrue(refusal(Optional.of(file), List.of()).endsWith(wanted));
        }
    }

    private static String refusal(Optional<Path> file, List<String> settings) {
        return assertThrows(ConfigException.class, () -> RunSpecReader.read(file, settings), settings::toString)
                .getMessage();
    }

    private Path write(String text) throws IOException {
        return Files.writeString(folder.resolve("run.conf"), text);
    }
}
