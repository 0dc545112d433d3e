/// The file name of the table's Web Worker, filled in by the build.
declare const TABLE_WORKER: string;
declare module "*.css";
