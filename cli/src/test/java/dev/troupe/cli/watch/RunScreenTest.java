package dev.troupe.cli.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class RunScreenTest {
    private static JsonNode json(String text) throws IOException {
        return new JsonMapper().readTree(text.replace('\'', '"'));
    }

    private static JsonNode run() throws IOException {
        return json("{'name':'mine','steps':100,'plan':{'name':'1f1b P2 V1 M2'},'now':{'state':'training','epoch':1,"
                + "'steps_done':8,'loss':2.34567,'tokens_per_second':12345.6,'traced':{'step':7,'ns':2000000,"
                + "'planned_ns':1500000},'goodput':0.914,'sentences':['rank 1 is 31 % slower than at its best']}}");
    }

    @Test
    void shouldFitARunOnOneScreen() throws IOException {
        JsonNode step = json("{'step':7,'end_ns':2000000,'ranks':["
                + "{'rank':0,'idle_ns':{'plan':250000,'producer':750000}},{'rank':1,'idle_ns':{'plan':500000}}]}");
        List<JsonNode> events = List.of(
                json("{'event':'recovery','step':5,'sentence':'rank 1 failed'}"),
                json("{'event':'checkpoint','step':8,'sentence':'a checkpoint is complete in step-000008'}"));
        assertEquals("""
                mine: training, epoch 1, step 8 of 100, loss 2.3457, 12,346 tokens/s
                plan 1f1b P2 V1 M2, last step 2.00 ms, planned 1.50 ms, goodput 91 %
                ! rank 1 is 31 % slower than at its best

                step 7, time by cause:
                  rank 0    |################....pppppppppppp| 50 % busy, 38 % producer, 13 % plan
                  rank 1    |########################........| 75 % busy, 25 % plan
                  # busy  . plan  p producer

                step 5: recovery: rank 1 failed
                step 8: checkpoint: a checkpoint is complete in step-000008""",
                String.join("\n", new RunScreen(run(), step, events).lines()));
    }

    @Test
    void shouldShowARunWithoutAStep() throws IOException {
        RunScreen screen = new RunScreen(json("{'name':'mine','steps':9,'plan':{'name':'gpipe P1 V1 M1'},"
                + "'now':{'state':'waiting','epoch':0,'steps_done':0,'sentences':[]}}"), MissingNode.getInstance(),
                List.of());
        assertEquals(List.of("mine: waiting, step 0 of 9", "plan gpipe P1 V1 M1", ""), screen.lines());
    }

    @Test
    void shouldShowTheRanksThatWaitedLongestWhenThereAreMany() throws IOException {
        String ranks = IntStream.range(0, 40)
                .mapToObj(rank -> "{'rank':" + rank + ",'idle_ns':{'plan':900000,'wire':" + (rank == 33 ? 2 : 1) + "}}")
                .collect(Collectors.joining(","));
        List<String> lines = new RunScreen(run(), json("{'step':7,'end_ns':2000000,'ranks':[" + ranks + "]}"),
                List.of())
                .lines();
        assertTrue(lines.stream().anyMatch(line -> line.startsWith("  rank 33 ")), () -> String.join("\n", lines));
        assertTrue(lines.contains("  and 24 ranks that were idle less"));
        assertTrue(lines.size() < 25);
    }
}
