package dev.troupe.config.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.problem.ConfigException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("plan")
class FaultSpecTest {
    private static final int RANDOM_FAULTS = 2000;

    @Test
    void shouldReadEveryWord() {
        assertEquals(
                new FaultSpec(FaultKind.SLOW, OptionalInt.of(2), OptionalInt.of(1), OptionalLong.of(5),
                        OptionalInt.of(3), Optional.of(FaultPoint.BACKWARD_INPUT), Optional.empty(), 2.5, 0, 0.25, -7,
                        4),
                parse("  slow stage=2 rank=1 step=5  microbatch=3 at=I factor=2.5 probability=0.25 seed=-7 times=4 "));
    }

    @Test
    void shouldReadTheContentOfAMessage() {
        assertEquals(Optional.of(FaultMessage.GRADIENT), parse("drop message=gradient").message());
        assertEquals(Optional.of(FaultMessage.ACTIVATION), parse("hang at=receive message=activation").message());
    }

    @ParameterizedTest
    @CsvSource({".5, 0.5", "1e-3, 0.001", "5E-1, 0.5", "1., 1", "0.25, 0.25"})
    void shouldReadNumbersAsPeopleWriteThem(String written, double probability) {
        assertEquals(probability, parse("exception probability=" + written).probability());
    }

    @ParameterizedTest
    @CsvSource({"1e-19", "1.2345678901234567e-3", "3e-99"})
    void shouldReadBackSmallNumbers(String written) {
        FaultSpec fault = parse("exception probability=" + written);
        assertEquals(fault, parse(fault.text()));
    }

    @Test
    void shouldStrikeOnceByDefault() {
        assertEquals(1, parse("exception").times());
        assertEquals(0, parse("exception probability=0.5").times());
        assertEquals(3, parse("exception probability=0.5 times=3").times());
    }

    @ParameterizedTest
    @EnumSource(FaultKind.class)
    void shouldStrikeOnlyAtThePointsOfItsKind(FaultKind kind) {
        for (FaultPoint point : FaultPoint.values()) {
            assertEquals(kind.points().contains(point), parse(kind.word()).strikesAt(point));
            if (kind.points().contains(point)) {
                FaultSpec there = parse(kind.word() + " at=" + point.word());
                assertTrue(there.strikesAt(point));
                assertEquals(1, kind.points().stream().filter(there::strikesAt).count());
            } else {
                assertThrows(ConfigException.class, () -> parse(kind.word() + " at=" + point.word()));
            }
        }
        assertFalse(kind.points().isEmpty());
    }

    @Test
    void shouldReadItsOwnText() {
        Random random = new Random(1);
        for (int i = 0; i < RANDOM_FAULTS; i++) {
            FaultSpec fault = draw(random);
            assertEquals(fault, parse(fault.text()), fault::text);
        }
    }

    private static FaultSpec draw(Random random) {
        FaultKind kind = FaultKind.values()[random.nextInt(FaultKind.values().length)];
        FaultPoint point = kind.points().stream().sorted().toList().get(random.nextInt(kind.points().size()));
        Optional<FaultPoint> at = random.nextBoolean() || !point.hasMicrobatch()
                ? Optional.of(point)
                : Optional.empty();
        return new FaultSpec(kind, draw(random, 8), draw(random, 8),
                random.nextBoolean() ? OptionalLong.of(random.nextLong(1L << 40)) : OptionalLong.empty(),
                point.hasMicrobatch() ? draw(random, 16) : OptionalInt.empty(),
                at, at.filter(FaultPoint::isOfMessage).map(_ -> FaultMessage.values()[random.nextInt(3)]),
                kind.hasFactor() ? 1 + random.nextInt(100) / 8.0 : 1,
                kind.usualSeconds().isPresent() ? random.nextInt(100) / 8.0 : 0,
                random.nextBoolean() ? 1 : (1 + random.nextInt(7)) / 8.0, random.nextInt(3), random.nextInt(3));
    }

    private static OptionalInt draw(Random random, int bound) {
        return random.nextBoolean() ? OptionalInt.of(random.nextInt(bound)) : OptionalInt.empty();
    }

    @Test
    void shouldLeaveOutDefaults() {
        assertEquals("delay stage=1 seconds=0.25", parse("delay seconds=0.25 stage=1 probability=1 times=1").text());
        assertEquals("slow", parse("slow factor=4").text());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', value = {
            "'' ! kind of fault as the first word: exception or out-of-memory or hang ! found \"nothing\"",
            "excepton stage=2 ! kind of fault as the first word, found ! \"excepton\" in \"excepton stage=2\"; did you mean exception?",
            "kill-cordinator ! kind of fault as the first word, found ! did you mean kill-coordinator?",
            "explode stage=2 ! kind of fault as the first word: exception or out-of-memory ! found \"explode\"",
            "exception stages=2 ! NAME is stage or rank or step ! found \"stages=2\" in \"exception stages=2\"",
            "exception loud ! NAME=VALUE after the kind ! found \"loud\"",
            "exception step=1 step=2 ! step once ! found \"step=2 after step=1\"",
            "exception stage=two ! stage= a whole number from 0 to 65535 ! found \"stage=two\"",
            "exception stage=-1 ! stage= a whole number from 0 to 65535 ! found \"stage=-1\"",
            "exception step=1.5 ! step= a whole number from 0, ! found \"step=1.5\"",
            "exception at=X ! at=F or I or W or B or recompute or send or receive or reduce or optimizer or commit or checkpoint for exception ! \"at=X\"",
            "drop at=F ! at=send for drop ! found \"at=F\"",
            "disk-full at=optimizer ! at=checkpoint for disk-full ! found \"at=optimizer\"",
            "hang factor=2 ! no factor for hang ! only slow has one",
            "slow at=send ! at=F or I or W or B or recompute or reduce or optimizer for slow ! found \"at=send\"",
            "drop message=loss ! message=activation or gradient or tied-gradient ! found \"message=loss\"",
            "exception message=gradient ! no message for exception ! write at=send or at=receive, or leave it out",
            "hang at=F message=gradient ! no message at=F ! write at=send or at=receive, or leave it out",
            "slow factor=0.5 ! factor= a number from 1 to 1000 ! found \"factor=0.5\"",
            "hang seconds=2 ! no seconds for hang ! those that have them are freeze or reorder or delay",
            "exception probability=0 ! a probability above 0 ! take the fault out",
            "exception probability=1.1 ! probability= a number from 0 to 1 ! found \"probability=1.1\"",
            "exception at=optimizer microbatch=1 ! no microbatch at=optimizer, which comes once in a step ! \"microbatch=1\"",
            "disk-full microbatch=1 ! no microbatch for disk-full ! take it out"})
    void shouldListTheAllowedWordsForAWrongOne(String text, String expected, String found) {
        ConfigException refusal = assertThrows(ConfigException.class, () -> parse(text));
        assertEquals(1, refusal.problems().size(), refusal.getMessage());
        String sentence = refusal.getMessage();
        assertTrue(sentence.startsWith("faults[1] (run.conf:7): expected "), sentence);
        assertTrue(sentence.contains(expected) && sentence.contains(found), sentence);
    }

    @Test
    void shouldReportEveryWrongWordAtOnce() {
        assertEquals(3, assertThrows(ConfigException.class, () -> parse("excepton stage=x at=Q")).problems().size());
    }

    private static FaultSpec parse(String text) {
        return FaultSpec.parse(text, "faults[1]", "run.conf:7");
    }
}
