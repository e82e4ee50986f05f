/** A second of a 440 Hz tone as a WAV file: 8 kHz, 16 bit, mono. */
export function wavOf(): Buffer {
  const rate = 8_000;
  const data = Buffer.alloc(rate * 2);
  for (let n = 0; n < rate; n += 1)
    data.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * 440 * n) / rate)), n * 2);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}
