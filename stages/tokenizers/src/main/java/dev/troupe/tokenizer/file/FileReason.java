package dev.troupe.tokenizer.file;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** The reason of a failed access to a file, in words: the message of Java's exceptions is often the path alone. */
public final class FileReason {
    private FileReason() {
    }

    /** @param failure an {@link IOException}, or an {@link UncheckedIOException} of a stream of files or lines */
    public static String of(Exception failure) {
        return switch (failure) {
            case UncheckedIOException unchecked -> of(unchecked.getCause());
            case NoSuchFileException _ -> "there is no such file";
            case AccessDeniedException _ -> "permission denied";
            case FileAlreadyExistsException _ -> "there is a file of that name already";
            case NotDirectoryException _ -> "it is no directory";
            case DirectoryNotEmptyException _ -> "the directory is not empty";
            case CharacterCodingException _ -> "it is not UTF-8 text";
            case ClosedChannelException _ -> "it was closed before the end";
            case EOFException _ -> "it ends too early";
            case FileSystemException system when system.getReason() != null -> system.getReason();
            case FileSystemException _ -> "the file system refused it";
            default -> failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
        };
    }
}
