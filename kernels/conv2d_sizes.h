// What conv2d.tc and conv2d_backward.tc ask of pictures and filters.

#pragma tri require(stride_h >= 1 && stride_w >= 1, "strides must be at least 1")
#pragma tri require(dilation_h >= 1 && dilation_w >= 1, "dilations must be at least 1")
#pragma tri require(pad_h >= 0 && pad_w >= 0, "padding must not be negative")
#pragma tri require(H + 2 * pad_h > dilation_h * (R - 1), "filters must not be higher than the padded picture")
#pragma tri require(W + 2 * pad_w > dilation_w * (S - 1), "filters must not be wider than the padded picture")
#pragma tri require(groups >= 1 && C % groups == 0 && K % groups == 0, "groups must divide channels and filters")
