export { FileStorage } from './file.storage.ts';
export { StorageLimitError } from './storage.type.ts';
export type { Storage, StoredFile, StoredStat } from './storage.type.ts';
