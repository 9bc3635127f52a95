package dev.troupe.cli;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;

/**
 * One call of the troupe command in this JVM.
 *
 * @param exitCode the exit code
 * @param output the text for its user
 * @param refusal the text of a refusal
 */
record Door(int exitCode, String output, String refusal) {
    static Door call(String... arguments) {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        StringWriter refusal = new StringWriter();
        PrintStream terminal = System.out;
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        try {
            CommandLine command = Troupe.commandLine();
            command.setErr(new PrintWriter(refusal, true));
            int exitCode = command.execute(arguments);
            return new Door(exitCode, output.toString(StandardCharsets.UTF_8), refusal.toString());
        } finally {
            System.setOut(terminal);
        }
    }
}
