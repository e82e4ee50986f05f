import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { dataFolder, postgresPid, startService, stopService, tonegate } from '../_util/index.ts';
import type { RunningService } from '../_util/index.ts';

describe('commands without a running service', () => {
  let folder: Awaited<ReturnType<typeof dataFolder>>;
  beforeAll(async () => void (folder = await dataFolder()));
  afterAll(() => folder.remove());
  let service: RunningService | undefined;
  afterEach(async () => {
    await stopService(service);
    service = undefined;
  });

  it('start the embedded database for themselves, one after the other, and leave nothing running', async () => {
    const create = (name: string) =>
      tonegate(['account', 'create', '--name', name, '--json'], { DATA_DIR: folder.path });
    const made = await Promise.all([create('One'), create('Two')]);
    expect(made.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ]);
    expect(await postgresPid(folder.path)).toBeNull();
    expect(await tonegate(['migrate'], { DATA_DIR: folder.path })).toMatchObject({
      code: 0,
      stdout: 'the database is up to date\n',
    });
  });

  it('write every stored secret again under a new master key', async () => {
    const { master, fresh } = {
      master: await readFile(join(folder.path, 'master.key'), 'utf8'),
      fresh: Buffer.alloc(32, 5).toString('base64'),
    };
    const env = { DATA_DIR: folder.path, MASTER_KEY: fresh };
    const withoutOld = await tonegate(['rekey'], env);
    expect(withoutOld.code).toBe(1);
    expect(withoutOld.stderr).toMatch(/^[^\n]*MASTER_KEY_PREVIOUS[^\n]*\n$/);
    const withOld = { ...env, MASTER_KEY_PREVIOUS: master.trim() };
    expect((await tonegate(['rekey'], withOld)).stdout).toBe('2 secrets rewritten, 0 were current already\n');
    expect((await tonegate(['rekey'], env)).stdout).toBe('0 secrets rewritten, 2 were current already\n');
  });

  it('a start does not make a new master key beside a database that an earlier one encrypted', async () => {
    await rm(join(folder.path, 'master.key'));
    service = startService({ DATA_DIR: folder.path });
    expect((await service.exited).code).toBe(1);
    expect(service.stderr()).toMatch(/master\.key is missing beside its database/);
    expect(await postgresPid(folder.path)).toBeNull();
  });

  it('a start on a file in place of the folder says so in one line', async () => {
    service = startService({ DATA_DIR: '/dev/null/data' });
    expect((await service.exited).code).toBe(1);
    expect(service.stderr().trim().split('\n')).toHaveLength(1);
  });
});
