package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.troupe.cli.LaunchedTree.Ended;
import dev.troupe.cli.stop.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script {@code ./troupe} in surroundings that lack something, or have it otherwise. */
@Tag("runtime")
@Timeout(120)
final class LauncherSurroundingsTest {
    /** Another user, without an entry in the list of users. */
    private static final String AS_ANOTHER = "exec setpriv --reuid 54321 --regid 54321 --clear-groups \"$troupe\" doctor";

    private static final String SAYS = "echo \"${HOME:-no home} ${LC_ALL:-no locale}\" \"${@: -1}\"\n";

    @TempDir
    private Path folder;
    private LaunchedTree tree;
    private Map<String, String> java;

    @BeforeEach
    void copy() throws IOException {
        tree = LaunchedTree.in(folder);
        java = tree.java(SAYS);
        tree.takeAJar();
    }

    @Test
    void shouldStartWithoutAnyEnvironment() throws Exception {
        String home = tree.shell(Map.of(), "unset HOME; echo ~").output().strip();
        LaunchedTree.assertQuiet(home + " C.UTF-8 doctor\n",
                tree.shell(java, "exec env -i TROUPE_JAVA_HOME=$TROUPE_JAVA_HOME \"$troupe\" doctor"));
    }

    @Test
    void shouldFindAJdkWithoutAHome() throws Exception {
        String line = "exec env -i PATH=$PATH JAVA_HOME=$TROUPE_JAVA_HOME \"${troupe%/troupe}/.mvn/find-jdk\"";
        LaunchedTree.assertQuiet(java.get("TROUPE_JAVA_HOME") + "\n", tree.shell(java, line));
    }

    /** A locale may have a name of UTF-8 and not be installed; in each, Java gets an encoding that works. */
    @ParameterizedTest
    @ValueSource(strings = {"C", "POSIX", "de_DE.ISO-8859-1", "ar_EG", "none_NONE.UTF-8"})
    void shouldStartJavaInALocaleOfUtf8(String locale) throws Exception {
        Ended ended = tree.shell(with("LC_ALL", locale), "exec \"$troupe\" $'n\\303\\251 *\\n'");
        assertEquals(0, ended.exitCode(), ended.errors());
        assertTrue(ended.output().endsWith(" C.UTF-8 n\u00e9 *\n\n"), ended.output());
    }

    @Test
    void shouldReadArgumentsThatAreNotAscii() throws Exception {
        tree.takeThisBuild();
        Ended ended = tree.shell(Map.of("LC_ALL", "C"), """
                exec "$troupe" profile -s training.steps=$'n\\303\\251 \\350\\267\\257'
                """);
        assertEquals(ExitCode.WRONG_REQUEST, ended.exitCode(), ended.errors());
        assertTrue(ended.errors().contains("found \"n\u00e9 \u8def\"."), ended.errors());
    }

    @Test
    void shouldRefuseArgumentsThatAreNoText() throws Exception {
        tree.takeThisBuild();
        Ended java = tree.shell(Map.of("LC_ALL", "C.UTF-8"), "exec \"$troupe\" generate --prompt $'a\\351'");
        assertEquals(
                new Ended(2, "troupe: argument 3 must be text in UTF-8, but found \"a\ufffd\": type it in a terminal "
                        + "of UTF-8, or rename the file.\n", ""),
                java);
        Ended script = tree.shell(Map.of("LC_ALL", "C"), "exec \"$troupe\" generate --prompt $'a\\351'");
        assertEquals(2, script.exitCode());
        assertTrue(script.errors().startsWith("troupe: an argument is text neither in UTF-8 nor in "), script.errors());
    }

    @Test
    void shouldRefuseTooFewOpenFiles() throws Exception {
        assertEquals(new Ended(2, "troupe: at most 128 files may be open (ulimit -Hn), and 256 are needed; raise the "
                + "limit: ulimit -n 1024, or LimitNOFILE=1024 in a unit of systemd.\n", ""),
                tree.shell(java, "ulimit -n 128; exec \"$troupe\" doctor"));
        assertEquals(0, tree.shell(java, "ulimit -Sn 64; exec \"$troupe\" doctor").exitCode());
        assertEquals(0, tree.shell(java, "ulimit -n 256; exec \"$troupe\" doctor").exitCode());
    }

    @Test
    void shouldStartThroughLinksAndInPathsWithBlanks() throws Exception {
        Ended ended = tree.shell(java, """
                mv root 'a  root' && ln -s 'a  root/troupe' one && ln -s "$PWD/one" two
                mkdir bin && ln -s ../two bin/troupe && PATH=$PWD/bin:$PATH && cd / && exec troupe doctor
                """);
        assertEquals(0, ended.exitCode(), ended.errors());
        assertEquals("", ended.errors());
    }

    @Test
    void shouldRefuseARootWithAColon() throws Exception {
        Ended ended = tree.shell(java, "mv root a:b && exec a:b/troupe doctor");
        assertEquals(2, ended.exitCode());
        assertTrue(ended.errors().startsWith("troupe: Java's class path cannot have a colon, and "), ended.errors());
    }

    @Test
    void shouldRefuseADirectoryThatIsGone() throws Exception {
        Ended ended = tree.shell(java, "mkdir gone && cd gone && rmdir ../gone && exec \"$troupe\" doctor");
        assertEquals(2, ended.exitCode());
        assertTrue(ended.errors().endsWith("troupe: the current directory no longer exists; change to another one.\n"),
                ended.errors());
    }

    @Test
    void shouldStartWithStreamsClosedAndWithoutATemporaryFolder() throws Exception {
        Map<String, String> looks = tree.java("""
                for stream in 0 1 2; do [ -e /dev/fd/$stream ] || echo closed $stream >> "%s"; done; echo started
                """.formatted(folder.resolve("closed")));
        LaunchedTree.assertQuiet("started\n", tree.shell(looks, "exec \"$troupe\" doctor <&-"));
        LaunchedTree.assertQuiet("started\n", tree.shell(looks, "exec \"$troupe\" doctor <&- 2>&-"));
        LaunchedTree.assertQuiet("", tree.shell(looks, "exec \"$troupe\" doctor <&- >&-"));
        assertFalse(Files.exists(folder.resolve("closed")), "Java would open a file in place of a standard stream");
        LaunchedTree.assertQuiet(folder.resolve("home") + " C.UTF-8 doctor\n", tree.shell(
                Map.of("TROUPE_JAVA_HOME", tree.java(SAYS).get("TROUPE_JAVA_HOME"), "LC_ALL", "C", "TMPDIR",
                        folder.resolve("none").toString(), "HOME", folder.resolve("home").toString()),
                "exec \"$troupe\" doctor"));
    }

    @Test
    void shouldRunWhatAnotherUserHasBuilt() throws Exception {
        takeAnotherUser();
        LaunchedTree.assertQuiet("/ C.UTF-8 doctor\n",
                tree.shell(java, "unset HOME; LC_ALL=C; export LC_ALL; " + AS_ANOTHER));

        Path source = Files.writeString(tree.root.resolve("pom.xml"), "");
        Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(60)));
        Ended changed = tree.shell(java, AS_ANOTHER);
        assertEquals(0, changed.exitCode());
        assertEquals(
                "troupe: the sources of " + tree.root + " are newer than what is built there, where you may not write; "
                        + "what is built runs\n",
                changed.errors());
    }

    @Test
    void shouldRefuseWhatAnotherUserHasBuiltForNobodyElse() throws Exception {
        takeAnotherUser();
        Path jar = tree.target().resolve("troupe-cli-1.jar");
        Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-------"));
        assertEquals(new Ended(2, "troupe: you may not read " + jar + "; its owner must allow it: chmod -R a+rX "
                + tree.root + "\n", ""), tree.shell(java, AS_ANOTHER));
        Files.delete(tree.target().resolve("troupe.classpath"));
        assertEquals(
                new Ended(2, "troupe: " + tree.root + " is not built, or not as TROUPE_MAVEN_FLAGS says, and you may "
                        + "not write there; its owner must run " + tree.root.resolve("troupe") + " --version first.\n",
                        ""),
                tree.shell(java, AS_ANOTHER));
    }

    private Map<String, String> with(String name, String value) {
        Map<String, String> environment = new HashMap<>(java);
        environment.put(name, value);
        return environment;
    }

    private void takeAnotherUser() throws Exception {
        assumeTrue(tree.shell(Map.of(), "[ $(id -u) = 0 ] && setpriv --version").exitCode() == 0,
                "only root may become another user, by setpriv");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
