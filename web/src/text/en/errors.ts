/** Errors that the console shows in place of the server's text, which is for developers. */
export const errors = {
  unreachable: "The server didn't respond. Check your connection and try again.",
};
