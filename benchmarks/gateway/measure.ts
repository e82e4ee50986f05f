/** One measurement: the generator against one server, the server's processor time beside it. */
import { fileURLToPath } from 'node:url';

import type { LoadPlan, LoadResult } from './load.ts';
import { Child, cpuSeconds, machineSeconds, residentBytes } from './processes.ts';
import { GENERATOR_CORE, type Server } from './servers.ts';

const PROJECT_DIR = fileURLToPath(new URL('../..', import.meta.url));
const GENERATOR = fileURLToPath(new URL('generator.ts', import.meta.url));
const SAMPLE = fileURLToPath(new URL('../../samples/voicemail-beep.wav', import.meta.url));

/** What a run asks for; the rest follows from the server. */
export interface Load {
  sockets: number;
  streaming?: number;
  welcome?: boolean;
  dialect?: LoadPlan['dialect'];
  warmUpMs: number;
  measureMs: number;
  /** Called when the measured time begins. */
  onMeasuring?: () => Promise<void>;
}

/** What came of it. */
export interface Measurement extends LoadResult {
  server: string;
  load: Load;
  /** Processor time of the server's process a frame. */
  cpuPerFrameUs: number;
  /** Share of its core. */
  serverLoad: number;
  residentBytes: number;
  /** Cores that neither the server nor the generator took: the database and the log, and whatever else runs here. */
  otherCores: number;
}

/** Runs the generator in a process of its own and reads the server's processor time at both ends of the measured time. */
export async function measure(server: Server, load: Load): Promise<Measurement> {
  const child = new Child({
    args: ['--import', 'tsx', GENERATOR, JSON.stringify(planOf(server, load))],
    env: process.env,
    core: GENERATOR_CORE,
    cwd: PROJECT_DIR,
  });
  try {
    await child.line();
    const fromSec = cpuSeconds(server.pid);
    const machineFromSec = machineSeconds();
    const beside = load.onMeasuring?.();
    const { result } = await child.line<{ result: LoadResult }>();
    const usedSec = cpuSeconds(server.pid) - fromSec;
    const machineSec = machineSeconds() - machineFromSec;
    const resident = residentBytes(server.pid);
    await beside;
    return {
      ...result,
      server: server.name,
      load,
      cpuPerFrameUs: (usedSec * 1e6) / Math.max(1, result.framesSent),
      serverLoad: (usedSec * 1000) / result.measuredMs,
      residentBytes: resident,
      otherCores: (machineSec - usedSec) / (result.measuredMs / 1000) - result.generatorLoad,
    };
  } finally {
    await child.stop();
  }
}

function planOf(server: Server, load: Load): LoadPlan {
  const platform = load.dialect === 'platform';
  const headers: Record<string, string> = platform
    ? { 'X-Twilio-Signature': 'c2lnbmF0dXJl' }
    : { Authorization: `Bearer ${server.detectionKey}` };
  return {
    host: '127.0.0.1',
    port: server.port,
    path: platform ? '/carrier/ws/twilio' : '/carrier/ws',
    tls: server.tls,
    headers,
    dialect: load.dialect ?? 'general',
    customParameters: platform ? { api_key: server.detectionKey } : undefined,
    sockets: load.sockets,
    streaming: load.streaming ?? load.sockets,
    welcome: load.welcome ?? true,
    warmUpMs: load.warmUpMs,
    measureMs: load.measureMs,
    sampleFile: SAMPLE,
  };
}

/** The middle of several measurements, by processor time a frame. */
export function middle(measurements: readonly Measurement[]): Measurement {
  const sorted = [...measurements].sort((a, b) => a.cpuPerFrameUs - b.cpuPerFrameUs);
  return sorted[Math.floor(sorted.length / 2)]!;
}
