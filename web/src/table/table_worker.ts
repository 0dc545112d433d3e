// Sorts and filters rows off the page's thread.
export {};
