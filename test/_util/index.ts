export { catchWebhooks } from './catch-webhooks.ts';
export type { Answer, Catcher, CaughtWebhook } from './catch-webhooks.ts';
export { testDb } from './test-db.ts';
export type { TestDb } from './test-db.ts';
export { until } from './until.ts';
export { dataFolder, isRunning, postgresPid, startService, stopService, tonegate } from './service.ts';
export type { CommandResult, ReadyLine, RunningService } from './service.ts';
