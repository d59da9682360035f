// What nobody drops on purpose, and the command leaves out of a folder as well: what is hidden or in the trash, what systems keep for
// themselves, and files that a program has not finished.

/**
 * Matches the path of such a file in a folder, or that of a folder with a slash at its end. What is chosen by its own name is meant, but
 * nobody means what macOS keeps beside each file of a card: with all clips of the card, Windows selects that too.
 */
export const SYSTEM_FILE =
  /^\._|\/(\.|~\$|(\$recycle\.bin|system volume information|lost\+found|__macosx)\/|(thumbs\.db|desktop\.ini|icon\r|.+\.(tmp|part|crdownload))$)/i
