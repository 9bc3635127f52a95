package dev.troupe.plan.prepare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpecReader;
import dev.troupe.config.spec.EngineSpec;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Need;
import dev.troupe.engine.provider.ProductLibraries;
import dev.troupe.plan.UsageException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EngineChoiceTest {
    private static final EngineProvider FAST = new Provider("fast", Optional.of("there is no device: buy one"), false);
    private static final EngineProvider SLOW = new Provider("slow", Optional.empty(), false);
    private static final EngineProvider TURNING = new Provider("turning", Optional.empty(), true);

    private static final EngineProvider MULTIPLYING = new Multiplying("multiplying", "mine");
    private static final List<EngineProvider> SEVERAL = List.of(SLOW, MULTIPLYING, new Multiplying("other", "theirs"));

    @Test
    void shouldTakeTheFirstThatCanServe() {
        assertEquals(SLOW, choose(EngineSpec.AUTO, FAST, SLOW).provider());
    }

    @Test
    void shouldExplainWhyItDidNotTakeThePreferredOne() {
        assertEquals(Optional.of("engine.kind = auto takes slow: there is no device: buy one"),
                choose(EngineSpec.AUTO, FAST, SLOW).passedOver());
        assertEquals(Optional.empty(), choose(EngineSpec.AUTO, SLOW, FAST).passedOver());
        assertEquals(Optional.empty(), choose("slow", FAST, SLOW).passedOver());
    }

    @Test
    void shouldExplainWhyNoneCanServe() {
        assertEquals("no engine can serve here: fast: there is no device: buy one", refusal(EngineSpec.AUTO, FAST));
        assertEquals("no engine is installed: put an engine's module on the class path", refusal(EngineSpec.AUTO));
    }

    @Test
    void shouldNotTakeAnotherThanTheOneThatWasAskedFor() {
        assertEquals(SLOW, choose("slow", FAST, SLOW).provider());
        assertEquals("engine.kind = fast cannot serve here: there is no device: buy one", refusal("fast", FAST, SLOW));
        assertEquals("engine.kind: there is no engine \"quick\"; installed are auto, fast, slow",
                refusal("quick", FAST, SLOW));
    }

    @Test
    void shouldRefuseADeviceOfAnEngineThatHasNone() {
        String none = "the engine slow has no devices, but engine.device = 1; set it to round-robin, or engine.kind to an"
                + " engine that has, such as cuda";
        EngineSpec second = RunSpecReader.read(Optional.empty(), List.of("engine.kind=slow", "engine.device=1"))
                .engine();
        assertEquals("engine.kind = slow cannot serve here: " + none,
                assertThrows(UsageException.class, () -> choose(second, List.of(0), SLOW)).getMessage());
        EngineSpec any = RunSpecReader.read(Optional.empty(), List.of("engine.device=1")).engine();
        EngineChoice choice = choose(any, List.of(0), SLOW, TURNING);
        assertEquals(TURNING, choice.provider());
        assertEquals(Optional.of("engine.kind = auto takes turning: " + none), choice.passedOver());
    }

    @Test
    void shouldGiveEachRankOfTheMachineATurn() {
        EngineChoice choice = choose(spec("turning", 1), List.of(2, 5, 8), TURNING);
        assertEquals("turn 0", opened(choice, 2));
        assertEquals("turn 1", opened(choice, 5));
        assertEquals("turn 2", opened(choice, 8));
        assertEquals("turn 7", opened(choice, 7), "of a rank that moved here");
    }

    private static String opened(EngineChoice choice, int rank) {
        return assertThrows(IllegalStateException.class, () -> choice.open(rank)).getMessage();
    }

    @Test
    void shouldShareTheCoresOutAmongTheRanks() {
        int cores = Runtime.getRuntime().availableProcessors();
        assertEquals(cores, threads(0, 1));
        assertEquals(1, threads(0, cores));
        assertEquals(1, threads(0, 10 * cores), "never none");
        assertEquals(7, threads(7, 10 * cores), "what was asked for");
        assertEquals(cores, threads(0, 0), "a standby may come to have one");
    }

    @Test
    void shouldFindTheReferenceEngineOnTheClassPath() {
        assertTrue(EngineChoice.installed().stream().anyMatch(provider -> provider.kind().equals("reference")));
    }

    private static int threads(int asked, int ranks) {
        return EngineChoice.of(spec("slow", asked), DataType.FLOAT32, DataType.FLOAT32,
                IntStream.range(0, ranks).boxed().toList(), List.of(SLOW)).settings()
                .threads();
    }

    @Test
    void shouldChooseProductsByTheMachinesTableIfAllRanksAreOnIt() {
        EngineChoice choice = choose("multiplying", MULTIPLYING);
        assertEquals("fast", products(choice, EngineSpec.AUTO, true));
        assertEquals("own", products(choice, EngineSpec.AUTO, false));
        assertEquals("own", products(choice, EngineSettings.OWN_PRODUCTS, true));
        assertEquals(Optional.of("mine 1.0"), choice.withProducts("mine", true, SEVERAL).productsWithVersions());
        assertEquals(Optional.of("mine 1.0"), choice.withProducts("mine", true, SEVERAL).otherProducts());
        assertEquals(Optional.of("own 1.0"), choice.withProducts("own", true, SEVERAL).productsWithVersions());
        assertEquals(Optional.empty(), choice.withProducts("own", true, SEVERAL).otherProducts());
        assertEquals("there is no wrong",
                assertThrows(UsageException.class, () -> products(choice, "wrong", true)).getMessage());
        EngineChoice without = choose("slow", SLOW);
        assertEquals(without, without.withProducts("wrong", true, SEVERAL));
        assertEquals(Optional.empty(), without.productsWithVersions());
    }

    /** As if a run began on another engine, or a cluster's nodes have several. */
    @Test
    void shouldTakeAnotherEnginesProductsForAuto() {
        EngineChoice choice = choose("multiplying", MULTIPLYING);
        assertEquals("fast", products(choice, "theirs", true));
        assertEquals("own", products(choice, "theirs", false));
        assertEquals("theirs", products(choose("other", SEVERAL.getLast()), "theirs", true));
    }

    private static String products(EngineChoice choice, String asked, boolean isOfOneMachine) {
        return choice.withProducts(asked, isOfOneMachine, SEVERAL).settings().products();
    }

    private static EngineSpec spec(String kind, int threads) {
        return RunSpecReader.read(Optional.empty(), List.of("engine.kind=" + kind, "engine.threads=" + threads))
                .engine();
    }

    private static EngineChoice choose(String kind, EngineProvider... installed) {
        return choose(spec(kind, 1), List.of(0), installed);
    }

    private static EngineChoice choose(EngineSpec spec, List<Integer> ranks, EngineProvider... installed) {
        return EngineChoice.of(spec, DataType.FLOAT32, DataType.FLOAT32, ranks, List.of(installed));
    }

    private static String refusal(String kind, EngineProvider... installed) {
        return assertThrows(UsageException.class, () -> choose(kind, installed)).getMessage();
    }

    /** An engine with several libraries of products. */
    private record Multiplying(String kind, String named) implements EngineProvider, ProductLibraries {
        @Override
        public boolean knows(String choice) {
            return List.of("own", "fast", named).contains(choice);
        }

        @Override
        public int preference() {
            return 0;
        }

        @Override
        public String description() {
            return kind();
        }

        @Override
        public Optional<String> obstacle(Need need) {
            return Optional.empty();
        }

        @Override
        public Engine create(EngineSettings settings) {
            throw new IllegalStateException("no test opens it");
        }

        @Override
        public Optional<ProductLibraries> productLibraries() {
            return Optional.of(this);
        }

        @Override
        public Optional<String> obstacle(String choice, DataType computeType) {
            return choice.equals("wrong") ? Optional.of("there is no wrong") : Optional.empty();
        }

        @Override
        public String own() {
            return "own";
        }

        @Override
        public String fastest(DataType computeType, Path cache) {
            return "fast";
        }

        @Override
        public List<String> measured(Path cache) {
            return List.of();
        }

        @Override
        public String identity(String choice) {
            return choice + " 1.0";
        }
    }

    /** An engine that reports its turn when it is opened. */
    private record Provider(String kind, Optional<String> hindrance, boolean hasDevices) implements EngineProvider {
        @Override
        public int preference() {
            return 0;
        }

        @Override
        public String description() {
            return kind;
        }

        @Override
        public Optional<String> obstacle(Need need) {
            return hindrance;
        }

        @Override
        public Engine create(EngineSettings settings) {
            throw new IllegalStateException("turn " + settings.device().turn());
        }
    }
}
