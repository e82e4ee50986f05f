import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { SOCKETS_PER_SESSION } from '../features/detection/index.ts';
import { SettingsError } from '../platform/settings/index.ts';
import type { Settings } from '../platform/settings/index.ts';
import { descriptorFault, descriptorLimit } from './gateway/descriptors.ts';

/** Throws a SettingsError for a setting that this machine cannot honour. */
export function checkMachine(settings: Settings): void {
  checkTls(settings);
  if (!settings.roles.has('gateway')) return;
  const fault = descriptorFault(settings.maxSessions * SOCKETS_PER_SESSION, descriptorLimit());
  if (fault !== null) throw new SettingsError('MAX_SESSIONS', `smaller: ${fault}`);
}

/** The pair of files must be there, be PEM and belong together. */
export function checkTls(settings: Pick<Settings, 'tlsCertFile' | 'tlsKeyFile'>): void {
  const { tlsCertFile, tlsKeyFile } = settings;
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return;
  const read = (name: string, path: string): Buffer => {
    try {
      return readFileSync(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new SettingsError(name, `the path of a PEM file that can be read (${code})`);
    }
  };
  const cert = read('TLS_CERT_FILE', tlsCertFile);
  const key = read('TLS_KEY_FILE', tlsKeyFile);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new SettingsError(
      'TLS_CERT_FILE and TLS_KEY_FILE',
      `a pair in PEM form (${(error as Error).message})`,
    );
  }
}
