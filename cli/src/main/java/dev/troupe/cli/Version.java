package dev.troupe.cli;

import picocli.CommandLine.IVersionProvider;

/** The version in the manifest of the jar. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[]{"troupe " + text()};
    }

    static String text() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "(from a working tree)" : version;
    }
}
