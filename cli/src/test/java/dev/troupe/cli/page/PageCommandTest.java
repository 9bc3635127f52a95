package dev.troupe.cli.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.Execution;
import dev.troupe.cli.OtherJvm;
import dev.troupe.cli.Troupe;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.look.page.RunPage;
import dev.troupe.run.http.PageServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("real")
@Timeout(300)
public class PageCommandTest {
    @TempDir
    private Path directory;

    @Test
    void shouldRefuseADirectoryWithoutARunAndAPortInUse() throws IOException {
        requireRefused(List.of("page", directory.toString()), "name the directory of a run");
        Files.writeString(directory.resolve("run.json"), "{\"schema\":1}");
        requireRefused(List.of("page", directory.toString(), "--port", "65536"), "from 0 to 65535");
        RunPage page = new RunPage(directory);
        try (PageServer taken = PageServer.open(0, "--port", page.routes())) {
            requireRefused(List.of("page", directory.toString(), "--port", "" + taken.address().getPort()),
                    "choose another with --port");
        }
    }

    private static void requireRefused(List<String> arguments, String part) {
        Execution refused = Execution.of(arguments);
        assertEquals(ExitCode.WRONG_REQUEST, refused.exitCode());
        assertTrue(refused.errors().contains(part), refused.errors());
        assertEquals(1, refused.errors().lines().count(), refused.errors());
    }

    @Test
    @Tag("long")
    void shouldServeUntilItIsStopped() throws Exception {
        Files.writeString(directory.resolve("run.json"), "{\"schema\":1,\"name\":\"a-run\"}");
        Process process = new ProcessBuilder(
                OtherJvm.command(OtherJvm.briefFlags(), Troupe.class, List.of("page", directory.toString())))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = process.inputReader(); HttpClient client = HttpClient.newHttpClient()) {
            URI address = URI.create(output.readLine().replaceFirst("Page: (\\S+) .*", "$1"));
            HttpResponse<String> run = client.send(HttpRequest.newBuilder(address.resolve("/troupe/v1/run")).build(),
                    HttpResponse.BodyHandlers.ofString());
            assertTrue(run.body().contains("a-run"), run.body());
            HttpResponse<String> page = client.send(HttpRequest.newBuilder(address).build(),
                    HttpResponse.BodyHandlers.ofString());
            assertEquals(200, page.statusCode());
            assertTrue(page.headers().firstValue("Content-Security-Policy").orElse("").contains("default-src 'none'"));
            process.destroy();
            assertTrue(process.waitFor(60, TimeUnit.SECONDS));
            assertEquals(ExitCode.DONE, process.exitValue());
        } finally {
            process.destroyForcibly();
        }
    }
}
