/** Writes WAV: what the samples and the tests of the reader are made with. */

const FORMAT_TAGS = { pcm16: 1, alaw: 6, mulaw: 7 } as const;

/** A canonical WAV file of interleaved sample bytes (44-byte header, data last). */
export function wavOf(
  data: Uint8Array,
  format: { encoding: keyof typeof FORMAT_TAGS; sampleRateHz: number; channels: number },
): Uint8Array {
  const width = format.encoding === 'pcm16' ? 2 : 1;
  const header = new DataView(new ArrayBuffer(44));
  const text = (at: number, letters: string): void => {
    for (let i = 0; i < letters.length; i += 1) header.setUint8(at + i, letters.charCodeAt(i));
  };
  text(0, 'RIFF');
  header.setUint32(4, 36 + data.length + (data.length & 1), true);
  text(8, 'WAVEfmt ');
  header.setUint32(16, 16, true);
  header.setUint16(20, FORMAT_TAGS[format.encoding], true);
  header.setUint16(22, format.channels, true);
  header.setUint32(24, format.sampleRateHz, true);
  header.setUint32(28, format.sampleRateHz * format.channels * width, true);
  header.setUint16(32, format.channels * width, true);
  header.setUint16(34, width * 8, true);
  text(36, 'data');
  header.setUint32(40, data.length, true);
  const file = new Uint8Array(44 + data.length + (data.length & 1));
  file.set(new Uint8Array(header.buffer));
  file.set(data, 44);
  return file;
}
