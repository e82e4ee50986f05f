/** The `ws` package with the rules in plain JavaScript: what the native detector is worth. */
import { serve } from '../ws.server.js';
import { Detector } from './detector.js';

serve((options) => new Detector(options));
