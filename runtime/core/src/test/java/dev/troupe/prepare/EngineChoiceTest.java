package dev.troupe.prepare;

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
import dev.troupe.plan.UsageException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class EngineChoiceTest {
    private static final EngineProvider FAST = new Provider("fast", Optional.of("there is no device: buy one"));
    private static final EngineProvider SLOW = new Provider("slow", Optional.empty());

    @Test
    void shouldTakeTheFirstThatCanServe() {
        assertEquals(SLOW, choose(EngineSpec.AUTO, FAST, SLOW).provider());
    }

    @Test
    void shouldSayWhyItDidNotTakeThePreferredOne() {
        assertEquals(Optional.of("engine.kind = auto takes slow: there is no device: buy one"),
                choose(EngineSpec.AUTO, FAST, SLOW).passedOver());
        assertEquals(Optional.empty(), choose(EngineSpec.AUTO, SLOW, FAST).passedOver());
        assertEquals(Optional.empty(), choose("slow", FAST, SLOW).passedOver());
    }

    @Test
    void shouldSayWhyNoneCanServe() {
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
        return EngineChoice.of(spec("slow", asked), DataType.FLOAT32, DataType.FLOAT32, ranks, List.of(SLOW)).settings()
                .threads();
    }

    private static EngineSpec spec(String kind, int threads) {
        return RunSpecReader.read(Optional.empty(), List.of("engine.kind=" + kind, "engine.threads=" + threads))
                .engine();
    }

    private static EngineChoice choose(String kind, EngineProvider... installed) {
        return EngineChoice.of(spec(kind, 1), DataType.FLOAT32, DataType.FLOAT32, 1, List.of(installed));
    }

    private static String refusal(String kind, EngineProvider... installed) {
        return assertThrows(UsageException.class, () -> choose(kind, installed)).getMessage();
    }

    private record Provider(String kind, Optional<String> hindrance) implements EngineProvider {
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
            throw new IllegalStateException("no test opens it");
        }
    }
}
