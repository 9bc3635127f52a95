package dev.troupe.cli;

import dev.troupe.cli.options.SettingValues;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.Key;
import dev.troupe.config.Keys;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code troupe completion}: the script with which a shell completes commands, options, keys and their values. */
@Command(name = "completion", mixinStandardHelpOptions = true, description = {
        "Prints a script that has the shell complete commands, options, and the keys of -s with their values.", "",
        "bash: source <(./troupe completion bash)", "zsh: source <(./troupe completion zsh)"})
final class CompletionCommand implements Callable<Integer> {
    enum Shell {
        bash, zsh
    }

    /** The end of picocli's script, which registers its own function. */
    private static final String REGISTRATION = "complete -F _complete_troupe";

    /**
     * The completion of keys up to '=' and of values after it; picocli completes the rest. Bash splits words at '=' and zsh
     * does not, so the setting is joined first. Keys of nodes are omitted, since only files have them.
     */
    private static final String SETTINGS = """

            _troupe_keys='%s'

            _troupe_values() {
              case "$1" in
            %s
              esac
            }

            # The words from -s on, put together: KEY, or KEY=VALUE as far as it is written.
            _troupe_setting() {
              local i=$COMP_CWORD setting=
              while [ "$i" -gt 1 ]; do
                [ "${COMP_WORDS[i]}" = -s ] && { printf '%%s' "$setting"; return 0; }
                [ "$((COMP_CWORD - i))" -gt 2 ] && return 1
                setting=${COMP_WORDS[i]}$setting
                i=$((i - 1))
              done
              return 1
            }

            _troupe() {
              local setting key current=${COMP_WORDS[COMP_CWORD]} values
              if [ "$current" != -s ] && setting=$(_troupe_setting); then
                case "$setting" in
                  *=*)
                    key=${setting%%%%=*}
                    values=$(compgen -W "$(_troupe_values "$key")" -- "${setting#*=}")
                    # where '=' is part of the word, so must it be in what replaces the word
                    case "$current" in ?*=*) [ -n "$values" ] && values=$(printf '%%s\\n' "$values" | sed "s/^/$key=/") ;; esac
                    COMPREPLY=($values)
                    [ -n "$values" ] || case "$key" in
                      data.path) COMPREPLY=($(compgen -f -- "${setting#*=}")) ;;
                      data.tokenizer) COMPREPLY=($(compgen -d -- "${setting#*=}")) ;;
                    esac
                    ;;
                  *)
                    COMPREPLY=($(compgen -W "$_troupe_keys" -- "$setting"))
                    COMPREPLY=("${COMPREPLY[@]/%%/=}")
                    type compopt >/dev/null 2>&1 && compopt -o nospace 2>/dev/null
                    ;;
                esac
                return 0
              fi
              _complete_troupe
            }

            complete -o default -F _troupe troupe
            """;

    @Parameters(paramLabel = "SHELL", description = "${COMPLETION-CANDIDATES}.")
    // Read by picocli, which refuses other values and completes these.
    @SuppressWarnings("unused")
    private Shell shell;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        String script = AutoComplete.bash("troupe", spec.root().commandLine());
        var keys = SettingValues.withNames(new Keys().all()).stream().filter(key -> !key.path().contains("["))
                .toList();
        String values = keys.stream().filter(key -> !key.choices().isEmpty())
                .map(key -> "    " + key.path() + ") echo '" + String.join(" ", key.choices()) + "' ;;")
                .collect(Collectors.joining("\n"));
        System.out.print(script.lines().filter(line -> !line.startsWith(REGISTRATION))
                .collect(Collectors.joining("\n", "", "\n"))
                + String.format(Locale.ROOT, SETTINGS, keys.stream().map(Key::path).collect(Collectors.joining(" ")),
                        values));
        System.out.flush();
        return ExitCode.DONE;
    }
}
