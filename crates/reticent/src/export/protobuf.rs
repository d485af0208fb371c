//! The few lines of the protobuf wire format that an ONNX file needs: varints and bytes with their
//! length. A library with generated types would be many times as large as what is written with it.

/// A message under construction.
#[derive(Debug, Default)]
pub(super) struct ProtobufMessage(Vec<u8>);

impl ProtobufMessage {
    pub fn int(mut self, field: u32, value: i64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value.cast_unsigned());
        self
    }

    pub fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub fn message(self, field: u32, message: ProtobufMessage) -> Self {
        self.bytes(field, &message.0)
    }

    pub fn message_of(self, field: u32, message: &ProtobufMessage) -> Self {
        self.bytes(field, &message.0)
    }

    /// A repeated field: once for each element.
    pub fn each<T>(
        self,
        items: impl IntoIterator<Item = T>,
        add: impl Fn(Self, T) -> Self,
    ) -> Self {
        items.into_iter().fold(self, add)
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::ProtobufMessage;

    /// The examples of the format's own description.
    #[test]
    fn known_bytes() {
        assert_eq!(ProtobufMessage::default().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(
            ProtobufMessage::default().text(2, "testing").into_bytes(),
            [0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]
        );
        let inner = ProtobufMessage::default().int(1, 150);
        assert_eq!(
            ProtobufMessage::default().message(3, inner).into_bytes(),
            [0x1a, 0x03, 0x08, 0x96, 0x01]
        );
        assert_eq!(ProtobufMessage::default().int(1, -1).into_bytes().len(), 11);
    }
}
