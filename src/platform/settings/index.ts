export { describeSettings, loadSettings, MAX_SESSIONS_DEFAULT, SettingsError } from './settings.ts';
export type { SettingRow, Settings } from './settings.ts';
export { ROLES } from './settings.schema.ts';
export type { Role, SettingName } from './settings.schema.ts';
