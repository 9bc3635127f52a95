package dev.troupe.cli.options;

import picocli.CommandLine.IVersionProvider;

/** The version for {@code --version}. */
public final class VersionOption implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[]{"troupe " + dev.troupe.plan.Version.text()};
    }
}
