package dev.troupe.plan.profile;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.config.RunSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.search.Unit;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.tokenizer.file.BoundedFile;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * The measured times of every layer of a model on one machine, with their spread; written as JSON.
 *
 * @param date UTC date and time of the measurement, as ISO 8601 has it
 * @param together ranks that computed at the same time
 * @param layers for each layer of the model the name of its form: of the first layer that is like it
 * @param links the ways between the nodes of a cluster, each direction; empty if they were not measured
 * @param overheads of a short run in one process; {@link StepOverheads#NONE} if none was measured
 */
public record Profile(int version, String date, int together, ProfileSetting setting, List<String> layers,
        Map<String, LayerSamples> forms, List<LinkSamples> links, StepOverheads overheads) {
    private static final String MEASURED = "measured";
    private static final int VERSION = 1;
    private static final JsonMapper JSON = new JsonMapper();
    private static final Set<Kind> KINDS = Set.of(Kind.FORWARD, Kind.BACKWARD_INPUT, Kind.BACKWARD_WEIGHT,
            Kind.FULL_BACKWARD, Kind.UPDATE);

    public Profile {
        layers = List.copyOf(layers);
        forms = new TreeMap<>(forms);
        links = List.copyOf(links);
        overheads = overheads == null ? StepOverheads.NONE : overheads; // as in older files
    }

    /** Creates a profile without links. */
    public Profile(String date, int together, ProfileSetting setting, List<String> layers,
            Map<String, LayerSamples> forms) {
        this(VERSION, date, together, setting, layers, forms, List.of(), StepOverheads.NONE);
    }

    /** Returns this profile with the ways between the nodes of a cluster. */
    public Profile with(List<LinkSamples> others) {
        return new Profile(version, date, together, setting, layers, forms, others, overheads);
    }

    /** Returns this profile with the times of a run outside the layers. */
    public Profile with(StepOverheads others) {
        return new Profile(version, date, together, setting, layers, forms, links, others);
    }

    /** Returns the usual file of a run's profile: {@code runs/profile-NAME.json}. */
    public static Path usualFile(RunSpec spec) {
        return Path.of("runs", "profile-" + spec.name() + ".json");
    }

    /** Returns the usual file of the profile of a node: {@code runs/profile-NAME-NODE.json}. */
    public static Path usualFile(RunSpec spec, String node) {
        return Path.of("runs", "profile-" + spec.name() + "-" + node + ".json");
    }

    /**
     * Returns the file of the profile that {@code parallel.layout} asks for with {@code measured} or
     * {@code measured(FILE)}; empty if it asks for none.
     */
    public static Optional<Path> file(RunSpec spec) {
        String layout = spec.parallel().layout().strip();
        if (layout.equals(MEASURED)) {
            return Optional.of(usualFile(spec));
        }
        return layout.startsWith(MEASURED + "(") && layout.endsWith(")")
                ? Optional.of(Path.of(layout.substring(MEASURED.length() + 1, layout.length() - 1).strip()))
                : Optional.empty();
    }

    /**
     * Reads a profile.
     *
     * @throws UsageException if there is none, or it is damaged
     */
    public static Profile read(Path file) {
        try {
            Profile profile = JSON.readValue(BoundedFile.bytes(file), Profile.class);
            if (profile.version != VERSION) {
                throw new UsageException(file + " is a profile of version " + profile.version
                        + ", and this Troupe reads version " + VERSION + ": measure a new one with ./troupe profile");
            }
            if (profile.layers.isEmpty() || !profile.forms.keySet().containsAll(profile.layers)
                    || profile.forms.values().stream().anyMatch(form -> !form.nanos().keySet().containsAll(KINDS)
                            || form.nanos().values().stream().anyMatch(List::isEmpty))) {
                throw damaged(file, Optional.empty());
            }
            return profile;
        } catch (NoSuchFileException _) {
            throw new UsageException("there is no profile " + file
                    + ": measure one with ./troupe profile and the same configuration, or name another file as in measured(FILE)");
        } catch (IOException | NullPointerException | IllegalArgumentException wrong) {
            throw damaged(file, Optional.of(wrong));
        }
    }

    private static UsageException damaged(Path file, Optional<Exception> cause) {
        String sentence = file + " is no profile, or is damaged: measure a new one with ./troupe profile";
        return cause.map(why -> new UsageException(sentence, why)).orElseGet(() -> new UsageException(sentence));
    }

    public String toJson() {
        try {
            return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this) + "\n";
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /**
     * Returns this profile if it is of the same machine and model as a run.
     *
     * @param file where it was read, for the sentence
     * @throws UsageException that names the first difference, if it is of another
     */
    public Profile requireFor(ProfileSetting run, Path file) {
        setting.difference(run).ifPresent(difference -> {
            throw new UsageException("the profile " + file + " is of " + difference
                    + ": measure one for this run with ./troupe profile");
        });
        return this;
    }

    /** Returns the layers with the medians of their times, in the model's order. */
    public List<Unit> units() {
        Map<String, Unit> units = new TreeMap<>();
        forms.forEach((name, form) -> units.put(name, form.median(name)));
        return layers.stream().map(units::get).toList();
    }

    /** Returns the median way from one node to another; empty if it was not measured. */
    public Optional<Hop> hop(String from, String to) {
        return links.stream().filter(link -> link.from().equals(from) && link.to().equals(to)).findFirst()
                .map(LinkSamples::hop);
    }

    /** Returns a profile with samples that are drawn from these ones. */
    Profile drawn(UnaryOperator<List<Long>> draw) {
        Map<String, LayerSamples> drawn = new TreeMap<>();
        forms.forEach((name, form) -> drawn.put(name, form.drawn(draw)));
        return new Profile(version, date, together, setting, layers, drawn,
                links.stream().map(link -> link.drawn(draw)).toList(), overheads.drawn(draw));
    }
}
