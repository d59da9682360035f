// What nobody drops on purpose, and the command leaves out of a folder as well: what is hidden or in the trash, what systems keep for
// themselves, and files that a program has not finished.

/** Matches the path of such a file, below the folder that was dropped, or that of a folder with a slash at its end. */
export const SYSTEM_FILE =
  /(^|\/)(\.|~\$|(\$recycle\.bin|system volume information|lost\+found|__macosx)\/|(thumbs\.db|desktop\.ini|icon\r)$)|\.(tmp|part|crdownload)$/i
