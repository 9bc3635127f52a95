package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import java.util.ArrayList;
import java.util.List;
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

    @Test
    void shouldSayWhereToBegin() {
        Door door = Door.call();
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        assertTrue(door.refusal().startsWith("a command is missing: ./troupe train is the one to begin with"),
                door.refusal());
        assertEquals(List.of(), door.refusal().lines().filter(line -> line.length() > 80).toList());
    }
}
