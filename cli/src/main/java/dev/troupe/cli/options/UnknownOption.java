package dev.troupe.cli.options;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.Key;
import dev.troupe.config.Keys;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The handler of unknown options that are named like a key, since other trainers have options for Troupe's keys. */
public final class UnknownOption implements IParameterExceptionHandler {
    private final IParameterExceptionHandler otherwise;

    /**
     * @param otherwise handles every other error
     */
    public UnknownOption(IParameterExceptionHandler otherwise) {
        this.otherwise = otherwise;
    }

    @Override
    public int handleParseException(ParameterException wrong, String[] arguments) throws Exception {
        CommandLine command = wrong.getCommandLine();
        Optional<String> advice = wrong instanceof UnmatchedArgumentException unmatched
                && command.getCommandSpec().findOption("-s") != null
                        ? advice(unmatched.getUnmatched().getFirst(), List.of(arguments))
                        : Optional.empty();
        if (advice.isEmpty()) {
            return otherwise.handleParseException(wrong, arguments);
        }
        command.getErr().println("troupe: " + advice.get() + "; " + command.getCommandSpec().qualifiedName()
                + " --help has the options, troupe keys the keys");
        return ExitCode.WRONG_REQUEST;
    }

    /** Returns the setting to write in place of an option with its value. */
    private static Optional<String> advice(String option, List<String> arguments) {
        if (!option.startsWith("-")) {
            return Optional.empty();
        }
        String[] parts = option.replaceFirst("^--?", "").split("=", 2);
        List<Key> keys = new Keys().named(parts[0]).stream()
                .sorted(Comparator.comparingLong(key -> key.path().chars().filter(sign -> sign == '.').count()))
                .toList();
        if (keys.isEmpty()) {
            return Optional.empty();
        }
        int next = arguments.indexOf(option) + 1;
        boolean hasNext = next > 0 && next < arguments.size() && !arguments.get(next).startsWith("-");
        String value = parts.length == 2 ? parts[1] : hasNext ? arguments.get(next) : "VALUE";
        return Optional.of("there is no option " + option.split("=", 2)[0] + ": what a run is made of is set by key, "
                + keys.stream().map(key -> "-s " + key.path() + "=" + value).collect(Collectors.joining(" or ")));
    }
}
