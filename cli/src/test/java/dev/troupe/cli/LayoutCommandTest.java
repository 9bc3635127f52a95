package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.cli.stop.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class LayoutCommandTest {
    private static final String SIXTEEN = """
            16 ranks: pipeline 4 x data 2 x tensor 2; numbered tensor fastest, then data, then pipeline

            tensor              [0,1] [2,3] [4,5] [6,7] [8,9] [10,11] [12,13] [14,15]
            pipeline            [0,4,8,12] [1,5,9,13] [2,6,10,14] [3,7,11,15]
            data                [0,2] [1,3] [4,6] [5,7] [8,10] [9,11] [12,14] [13,15]
            model               [0,1,4,5,8,9,12,13] [2,3,6,7,10,11,14,15]
            embedding           [0,12] [1,13] [2,14] [3,15]
            position-embedding  [0] [1] [2] [3]
            """;

    @Test
    void shouldPrintEveryGroupAsMegatronNumbersThem() {
        Door door = Door.call("layout", "--world", "16", "--pipeline", "4", "--tensor", "2");
        assertEquals(SIXTEEN, door.output());
        assertEquals(ExitCode.DONE, door.exitCode());
        assertEquals(SIXTEEN,
                Door.call("layout", "--world", "16", "--pipeline", "4", "--tensor", "2", "--data", "2").output());
    }

    @Test
    void shouldPrintTheGroupsThatTheDocumentsShow() throws IOException {
        assertTrue(Files.readString(Path.of("../docs/schedules.md"))
                .contains("$ ./troupe layout --world 16 --pipeline 4 --tensor 2\n" + SIXTEEN));
    }

    @Test
    void shouldWriteJsonForAProgram() throws IOException {
        String text = Door.call("layout", "--world", "4", "--pipeline", "2", "--tensor", "2", "--format", "json")
                .output();
        JsonNode expected = new JsonMapper().readTree("""
                {"world": 4, "pipeline": 2, "data": 1, "tensor": 2, "groups": {
                    "tensor": [[0, 1], [2, 3]],
                    "pipeline": [[0, 2], [1, 3]],
                    "data": [[0], [1], [2], [3]],
                    "model": [[0, 1, 2, 3]],
                    "embedding": [[0, 2], [1, 3]],
                    "position-embedding": [[0], [1]]}}
                """);
        assertEquals(expected, new JsonMapper().readTree(text));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', value = {
            "15 ! 4 ! 2 ! 2 ! troupe: a world of 15 ranks is not filled by pipeline x data x tensor = 4 x 2 x 2 = 16: make"
                    + " the world 16, or change a degree",
            "15 ! 4 ! 2 ! ! troupe: a world of 15 ranks is not filled by pipeline x tensor = 4 x 2 = 8, whatever data is:"
                    + " make the world 8 or 16",
            "16 ! 0 ! 2 ! ! troupe: pipeline must be 1 or more, but found 0: a degree of 1 leaves it out",
            "16 ! 4 ! 2 ! 0 ! troupe: data must be 1 or more, but found 0: a degree of 1 leaves it out",
            "0 ! 1 ! 1 ! ! troupe: a world must have 1 rank or more, but found 0",
            "2000000 ! 1 ! 1 ! ! troupe: --world must be at most 1,000,000 to be listed here, but found 2,000,000: take"
                    + " fewer"})
    void shouldRefuseAWorldThatTheDegreesDoNotFill(String world, String pipeline, String tensor, String data,
            String sentence) {
        String[] all = {"layout", "--world=" + world, "--pipeline=" + pipeline, "--tensor=" + tensor, "--data=" + data};
        Door door = Door.call(data == null ? Arrays.copyOf(all, 4) : all);
        assertEquals(sentence, door.refusal().strip());
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        assertEquals("", door.output());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--world=8", "--tensor=2", "--expert=2", "--format=json"})
    void shouldRefuseOptionsOfGroupsForAPlan(String option) {
        Door door = Door.call("layout", "--plan", option);
        assertTrue(door.refusal().contains("leave the other options out"), door.refusal());
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
    }
}
