package dev.troupe.cli.options;

import picocli.CommandLine.IVersionProvider;

/** The version in the manifest of the jar. */
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[]{"troupe " + text()};
    }

    public static String text() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "(from a working tree)" : version;
    }
}
