package dev.troupe.cli;

import dev.troupe.cli.bits.BisectCommand;
import dev.troupe.cli.bits.ReplayCommand;
import dev.troupe.cli.launch.MediaDriverCommand;
import dev.troupe.cli.model.EvalCommand;
import dev.troupe.cli.model.ExportCommand;
import dev.troupe.cli.model.GenerateCommand;
import dev.troupe.cli.model.ServeCommand;
import dev.troupe.cli.model.TokenizeCommand;
import dev.troupe.cli.options.UnknownOption;
import dev.troupe.cli.options.VersionOption;
import dev.troupe.cli.page.PageCommand;
import dev.troupe.cli.plan.PlanCommand;
import dev.troupe.cli.profile.ProfileCommand;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.StandardError;
import dev.troupe.cli.stop.StandardOutput;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.plan.error.UserErrors;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/** The entry point of the command {@code troupe}, with all its subcommands. */
@Command(name = "troupe", mixinStandardHelpOptions = true, versionProvider = VersionOption.class, subcommands = {
        TrainCommand.class, ScheduleCommand.class, CompareCommand.class, PlanCommand.class, ProfileCommand.class,
        LayoutCommand.class,
        ChaosCommand.class, VerifyCommand.class, LaunchCommand.class, NodeCommand.class, StatusCommand.class,
        PageCommand.class, BisectCommand.class, ReplayCommand.class,
        TokenizeCommand.class, EvalCommand.class, GenerateCommand.class, ServeCommand.class, ExportCommand.class,
        MediaDriverCommand.class,
        DoctorCommand.class,
        KeysCommand.class,
        CompletionCommand.class}, description = {
                "Trains GPT-2, Llama and Qwen models through a pipeline of stage actors."}, footer = {"",
                        "Exit codes: 0 done; 1 the run failed; 2 the request was wrong (nothing started, nothing written);",
                        "3 stopped before its end, by Ctrl-C, SIGTERM or SIGHUP, in every process of the run."})
public final class Troupe implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    private Troupe() {
    }

    /** Runs the command and exits. */
    public static void main(String[] arguments) throws InterruptedException {
        Locale.setDefault(Locale.ROOT); // what libraries write is the same on every machine too
        StopRequests.handleSignals();
        Thread standardError = StandardError.restore();
        StandardOutput standardOutput = StandardOutput.watch();
        CommandLine command = commandLine();
        standardError.join();
        int exitCode = areText(arguments, command) ? command.execute(arguments) : ExitCode.WRONG_REQUEST;
        System.out.flush();
        if (standardOutput.complaint().isPresent()) {
            command.getErr().println("troupe: " + standardOutput.complaint().get());
            exitCode = exitCode == ExitCode.DONE ? ExitCode.RUN_FAILED : exitCode;
        }
        System.exit(exitCode);
    }

    /**
     * Returns whether the arguments were UTF-8: Java replaces other bytes, and a prompt with replacements would be
     * continued.
     */
    private static boolean areText(String[] arguments, CommandLine command) {
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i].indexOf('\uFFFD') >= 0) {
                command.getErr().println("troupe: argument " + (i + 1) + " must be text in UTF-8, but found \""
                        + arguments[i] + "\": type it in a terminal of UTF-8, or rename the file.");
                return false;
            }
        }
        return true;
    }

    static CommandLine commandLine() {
        CommandLine troupe = new CommandLine(new Troupe());
        return troupe.setParameterExceptionHandler(
                new UnknownOption(troupe.getParameterExceptionHandler()))
                .setExecutionExceptionHandler((failure, command, _) -> {
                    if (failure instanceof RuntimeException refused && UserErrors.sentenceOf(refused).isPresent()) {
                        command.getErr().println("troupe: " + UserErrors.sentenceOf(refused).get());
                        return ExitCode.WRONG_REQUEST;
                    }
                    throw failure;
                });
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(),
                "a command is missing: ./troupe train is the one to begin with; all of them:");
    }
}
