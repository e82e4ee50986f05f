/*
 * Frames to the telephony platform (supplement 7; Twilio, Media Streams, "WebSocket messages to Twilio"). Audio is mu-law,
 * 8 kHz, without a header.
 */

export const mediaFrame = (streamSid: string, audio: Buffer): string =>
  // Base64 needs no escaping; the sid came from outside.
  `{"event":"media","streamSid":${JSON.stringify(streamSid)},"media":{"payload":"${audio.toString('base64')}"}}`;

/** Comes back when everything sent before it was heard, or at once after a `clear`. */
export const markFrame = (streamSid: string, name: string): string =>
  JSON.stringify({ event: 'mark', streamSid, mark: { name } });

/** Drops what the platform has not played yet. */
export const clearFrame = (streamSid: string): string => JSON.stringify({ event: 'clear', streamSid });
