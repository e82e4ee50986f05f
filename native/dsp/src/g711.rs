//! ITU-T G.711 expansion, as tables of samples in [-1, 1).

/// Full scale of 16-bit linear samples.
const FULL_SCALE: f32 = 32_768.0;

/// Mu-law byte to sample: G.711 tables 2a and 2b, the 14-bit values scaled to 16 bits.
pub(crate) static MULAW: [f32; 256] = {
    let mut table = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        table[code] = mulaw_to_linear(code as u8) as f32 / FULL_SCALE;
        code += 1;
    }
    table
};

/// A-law byte to sample: G.711 tables 1a and 1b, the 13-bit values scaled to 16 bits.
pub(crate) static ALAW: [f32; 256] = {
    let mut table = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        table[code] = alaw_to_linear(code as u8) as f32 / FULL_SCALE;
        code += 1;
    }
    table
};

/// Bytes travel inverted; sign, 3 bits of segment, 4 bits of step; 33 is the bias of the 14-bit law.
const fn mulaw_to_linear(code: u8) -> i16 {
    let bits = !code;
    let segment = (bits >> 4) & 0x07;
    let step = (bits & 0x0f) as i16;
    let magnitude = (((step << 1) + 33) << segment) - 33;
    let scaled = magnitude << 2;
    if bits & 0x80 == 0 { scaled } else { -scaled }
}

/// Bytes travel with every second bit inverted; a set sign bit is positive.
const fn alaw_to_linear(code: u8) -> i16 {
    let bits = code ^ 0x55;
    let segment = (bits >> 4) & 0x07;
    let step = (bits & 0x0f) as i16;
    let magnitude = match segment {
        0 => (step << 1) + 1,
        _ => ((step << 1) + 33) << (segment - 1),
    };
    let scaled = magnitude << 3;
    if bits & 0x80 != 0 { scaled } else { -scaled }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision value ends of the segments, from G.711 table 2a (positive mu-law, 14-bit values).
    const MULAW_SEGMENTS: [(u8, i32); 9] = [
        (0x80, 8031),
        (0x8f, 4191),
        (0x9f, 2079),
        (0xaf, 1023),
        (0xbf, 495),
        (0xcf, 231),
        (0xdf, 99),
        (0xef, 33),
        (0xff, 0),
    ];

    /// From G.711 table 1a (positive A-law, 13-bit values; the code after inversion of the even bits).
    const ALAW_SEGMENTS: [(u8, i32); 8] = [
        (0xaa, 4032),
        (0xa5, 2112),
        (0xb5, 1056),
        (0x85, 528),
        (0x95, 264),
        (0xe5, 132),
        (0xf5, 66),
        (0xd5, 1),
    ];

    #[test]
    fn mulaw_matches_the_values_of_the_standard() {
        for (code, value) in MULAW_SEGMENTS {
            assert_eq!(
                MULAW[code as usize] * FULL_SCALE,
                (value * 4) as f32,
                "code {code:#x}"
            );
            assert_eq!(
                MULAW[(code & 0x7f) as usize] * FULL_SCALE,
                (value * -4) as f32,
                "code {code:#x}, negative"
            );
        }
    }

    #[test]
    fn alaw_matches_the_values_of_the_standard() {
        for (code, value) in ALAW_SEGMENTS {
            assert_eq!(
                ALAW[code as usize] * FULL_SCALE,
                (value * 8) as f32,
                "code {code:#x}"
            );
            assert_eq!(
                ALAW[(code & 0x7f) as usize] * FULL_SCALE,
                (value * -8) as f32,
                "code {code:#x}, negative"
            );
        }
    }

    #[test]
    fn both_laws_rise_from_code_to_code_within_a_sign() {
        for code in 0x80..0xff_usize {
            assert!(MULAW[code] > MULAW[code + 1]);
        }
        let mut alaw: Vec<f32> = (0x80..=0xff_usize).map(|code| ALAW[code ^ 0x55]).collect();
        let before = alaw.clone();
        alaw.sort_by(f32::total_cmp);
        assert_eq!(alaw, before);
    }
}
