package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.Key;
import dev.troupe.config.Keys;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

@Tag("plan")
final class HelpTest {
    @Test
    void shouldFitEightyColumnsInEveryCommand() {
        List<CommandLine> all = new ArrayList<>(List.of(Troupe.commandLine()));
        all.addAll(all.getFirst().getSubcommands().values());
        assertTrue(all.size() > 10);
        for (CommandLine command : all) {
            assertEquals(List.of(), command.getUsageMessage().lines().filter(line -> line.length() > 80).toList(),
                    command.getCommandName());
        }
    }

    /** picocli breaks lines after a full stop, also after the one within a key; such a key cannot be searched for. */
    @Test
    void shouldBreakNoKeyOverTwoLines() {
        for (CommandLine command : Troupe.commandLine().getSubcommands().values()) {
            String help = command.getUsageMessage();
            String joined = help.replaceAll("\n *", "");
            for (Key key : new Keys().all()) {
                assertEquals(count(joined, key.path()), count(help, key.path()),
                        key.path() + " in the help of " + command.getCommandName());
            }
        }
    }

    private static int count(String text, String part) {
        return text.split(Pattern.quote(part), -1).length;
    }

    /** The list of commands has the first line of each. */
    @Test
    void shouldBeginWithAWholeSentence() {
        Troupe.commandLine().getSubcommands().values().forEach(command -> {
            String first = command.getCommandSpec().usageMessage().description()[0];
            assertTrue(first.endsWith("."), command.getCommandName() + ": " + first);
        });
    }

    @Test
    void shouldNameWhatStatusTakes() {
        String help = Troupe.commandLine().getSubcommands().get("status").getUsageMessage();
        assertTrue(help.contains("CONFIG|RUN   A HOCON file with cluster.nodes, or the directory of a run."), help);
        assertFalse(help.contains("Where the run writes"), help);
    }

    @Test
    void shouldExplainHowToBegin() {
        Door door = Door.call();
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        assertTrue(door.refusal().startsWith("a command is missing: ./troupe train is the one to begin with"),
                door.refusal());
        assertEquals(List.of(), door.refusal().lines().filter(line -> line.length() > 80).toList());
    }
}
