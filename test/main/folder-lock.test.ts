import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findHolder, FolderInUse, FolderLock } from '../../src/main/data-dir/folder-lock.ts';

describe('FolderLock', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'tonegate-lock-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const write = (holder: object): Promise<void> =>
    writeFile(join(folder, 'tonegate.lock'), JSON.stringify(holder));

  it('is held by one until it is released, and names its holder', async () => {
    const lock = await FolderLock.take(folder, 'service');
    expect(await findHolder(folder)).toMatchObject({ pid: process.pid, purpose: 'service' });
    await expect(FolderLock.take(folder, 'service')).rejects.toThrow(FolderInUse);
    await expect(FolderLock.take(folder, 'command')).rejects.toThrow(`in use by process ${process.pid}`);
    lock.release();
    expect(await findHolder(folder)).toBeNull();
    (await FolderLock.take(folder, 'service')).release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('waits for a command, which takes only seconds', async () => {
    const command = await FolderLock.take(folder, 'command');
    const service = FolderLock.take(folder, 'service');
    setTimeout(() => command.release(), 200);
    (await service).release();
  });

  it('passes from a process that died, also when its id belongs to another one by now', async () => {
    const dead = spawn(process.execPath, ['-e', '']);
    await once(dead, 'exit');
    await write({ pid: dead.pid, startedAt: '1', purpose: 'service' });
    (await FolderLock.take(folder, 'service')).release();
    await write({ pid: process.pid, startedAt: 'another time', purpose: 'service' });
    (await FolderLock.take(folder, 'service')).release();
    await writeFile(join(folder, 'tonegate.lock'), 'not json');
    (await FolderLock.take(folder, 'service')).release();
  });

  it("gives a dead process's folder to one of many at once, whenever they come", async () => {
    for (let round = 0; round < 10; round += 1) {
      await write({ pid: 2 ** 22 + 1, startedAt: '1', purpose: 'service' });
      const takes = await Promise.allSettled(
        Array.from({ length: 40 }, () => FolderLock.take(folder, 'service')),
      );
      const taken = takes.filter((take) => take.status === 'fulfilled');
      const refused = takes.filter(
        (take) => take.status === 'rejected' && take.reason instanceof FolderInUse,
      );
      expect([taken.length, refused.length]).toEqual([1, 39]);
      expect(await readdir(folder)).toEqual(['tonegate.lock']);
      taken[0]?.value.release();
    }
  });
});
